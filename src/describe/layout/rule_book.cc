// The rules in words: what must hold, why, and what to change. rules.cc applies them.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "describe/layout/rules.h"

namespace sextant::describe {
namespace {

// Where a rule names Megatron's files, they are those of Megatron-LM d98e8a64 (Megatron Core 0.20).
constexpr std::array kRules{
    Rule{"BATCH-DP", "The global batch is shared equally by the data-parallel replicas",
         "global_batch % dp == 0",
         "Every replica must contribute the same number of sequences, or the gradient average is "
         "wrong "
         "and replicas wait for each other. Megatron: num_microbatches_calculator.py.",
         "Change --gbs to a multiple of dp, or choose a dp that divides it."},
    Rule{"BATCH-MICRO", "Microbatches of a pipeline have one size",
         "pp == 1 or (global_batch / dp) % mbs == 0",
         "Pipeline buffers and point-to-point messages have fixed shapes. Without a pipeline the "
         "last "
         "microbatch may be smaller (Composer does this).",
         "Choose an mbs that divides global_batch / dp."},
    Rule{"EXPERT-FFN-ETP", "Expert tensor parallelism splits the experts' width equally",
         "expert width % etp == 0",
         "Column- and row-parallel products need equal shards (tensor_parallel/layers.py).",
         "Choose an etp that divides the experts' feed-forward width."},
    Rule{"EXPERT-WORLD", "Expert groups tile the ranks of a pipeline stage",
         "(tp * cp * dp) % (ep * etp) == 0",
         "Experts are laid over the ranks that hold the same layers; what is left is the experts' "
         "own data "
         "parallelism (parallel_state.py).",
         "Choose ep * etp that divides tp * cp * dp."},
    Rule{"EXPERTS-EP", "Expert parallelism deals whole experts", "ep == 1 or experts % ep == 0",
         "Each rank holds experts / ep experts; a model without experts has nothing to deal "
         "(arguments.py).",
         "Choose an ep that divides the number of experts, 1 for a dense model."},
    Rule{"FFN-TP", "Tensor parallelism splits the feed-forward width equally",
         "ffn width % tp == 0",
         "Column- and row-parallel products need equal shards (tensor_parallel/layers.py).",
         "Choose a tp that divides the feed-forward width."},
    Rule{"HEADS-CP", "All-to-all context parallelism deals whole heads",
         "(heads / tp) % cp == 0, or for a2a+p2p of its inner group",
         "Ulysses-style context parallelism exchanges sequence shards for head shards: each rank "
         "must get "
         "at least one whole query head.",
         "Lower cp, or use cp_method=p2p or all_gather."},
    Rule{"HEADS-TP", "Tensor parallelism deals whole attention heads", "heads % tp == 0",
         "Attention is computed head by head; half a head cannot be computed alone "
         "(transformer_config.py). Mamba-2 and DeltaNet heads follow the same rule.",
         "Choose a tp that divides the number of heads."},
    Rule{"KV-HEADS-TP",
         "Key/value heads divide over tensor-parallel ranks, or are replicated evenly",
         "kv_heads % tp == 0 or tp % kv_heads == 0",
         "With more ranks than kv heads each head is copied to tp / kv_heads ranks; anything "
         "between is "
         "uneven (transformer_config.py). torchtitan does not replicate and needs kv_heads % tp == "
         "0.",
         "Choose a tp that divides kv_heads or is a multiple of it."},
    Rule{"LAYERS-STAGES", "The layers fill the pipeline's stages",
         "layers (+ 1 for a counted embedding, + 1 for a counted loss) % (pp * vpp) == 0, or "
         "explicit "
         "counts for each stage that sum to layers",
         "Every stage needs a known share of the model. Nearly half of the published best "
         "configurations "
         "count embedding and loss as layers or give the stages explicitly.",
         "Use layers_per_stage=emb+loss, give the counts of each stage, or choose pp * vpp that "
         "divides."},
    Rule{"MEMORY-FIT", "What a rank must hold fits into its device",
         "allocated at the fullest moment + context <= usable memory, on every pipeline rank",
         "Tensors beyond the device's memory end the run. Checked by the memory model "
         "(docs/models/memory.md), not by the layout's numbers alone; between allocated and "
         "reserved it is tight, not refused.",
         "`sextant memory` lists single changes that make it fit: a smaller mbs, more "
         "recomputation, more tp, pp or cp, a higher zero, offloading."},
    Rule{"PRECISION-DEVICE", "The device has a unit for the precision asked for",
         "the device lists a peak for the matrix products' format",
         "A format without hardware falls back to a slower one or does not run at all.",
         "Choose a precision that `sextant cluster` lists for the device."},
    Rule{"RECOMPUTE-MODULE", "Recomputed modules exist in the model",
         "moe, moe_act and shared_experts need experts; mla_up_proj needs latent attention",
         "A policy that names a module the model does not have saves nothing; frameworks refuse or "
         "ignore "
         "it (transformer_config.py).",
         "Name modules the model has."},
    Rule{"ROUTER-GROUPS", "Group-limited routing is consistent",
         "topk <= experts, experts % groups == 0, topk_groups <= groups",
         "A token picks topk experts among topk_groups equal groups (transformer_config.py).",
         "Correct the model's routing fields."},
    Rule{
        "SCHEDULE-VPP", "The schedule and the number of chunks agree",
        "gpipe, 1f1b: vpp == 1; interleaved-1f1b, looped-bfs, interleaved-zb: vpp > 1; zbv, "
        "dualpipev: "
        "vpp == 2; all: vpp == 1 where pp == 1",
        "A schedule is a table over pp * vpp stages; V-shaped ones hold exactly two chunks a rank.",
        "Set vpp or schedule to match."},
    Rule{"SEQ-CP", "Context parallelism splits the sequence into balanced shares",
         "seq % (2 * cp) == 0 (p2p, all_gather, a2a+p2p), seq % cp == 0 (a2a)",
         "Causal attention costs more for later tokens; each rank takes one early and one late "
         "chunk "
         "(arguments.py).",
         "Choose a cp whose double divides the sequence length."},
    Rule{"SEQ-POSITIONS", "Learned positions cover the sequence", "seq <= learned positions",
         "A learned position table has a fixed number of rows; rotary positions have no such limit "
         "(arguments.py).",
         "Shorten --seq or enlarge the position table."},
    Rule{"SEQ-SP", "Sequence parallelism splits the tokens of a rank equally",
         "sp == 0 or (seq / cp) % tp == 0",
         "The reduce-scatter over the sequence dimension needs equal shards "
         "(tensor_parallel/mappings.py).",
         "Choose a tp that divides seq / cp, or sp=0."},
    Rule{"SP-TP", "Sequence parallelism needs tensor parallelism", "sp == 0 or tp > 1",
         "It is the same group's work on the parts TP leaves whole. Megatron's arguments.py "
         "switches it off "
         "silently without TP; its core refuses.",
         "Set sp=0 or tp > 1."},
    Rule{"VOCAB-TP", "Every tensor-parallel rank holds part of the vocabulary",
         "tp <= vocabulary (padded up to a multiple of 128 * tp by Megatron)",
         "Embedding and output head are split by vocabulary rows; padding rows are computed and "
         "stored "
         "like real ones (vocab_utils.py).",
         "Lower tp."},
    Rule{"WORLD-PRODUCT", "The axes multiply to the number of devices",
         "tp * cp * pp * dp == devices",
         "Every device has exactly one place in the layout; expert parallelism is carved out of "
         "dp, cp and "
         "tp and does not multiply (parallel_state.py).",
         "Change dp, or choose axes whose product divides the number of devices."},
    Rule{"ZERO-GROUP", "Shard groups tile the data-parallel ranks",
         "zero_group == 0 or (dp * cp) % zero_group == 0",
         "Sharded states live on equal groups of ranks that hold the same parameters.",
         "Choose a zero_group that divides dp * cp."},
};

}  // namespace

std::span<const Rule> rule_book() {
  return kRules;
}

Result<Rule> find_rule(std::string_view id) {
  std::vector<std::string> ids;
  for (const Rule& rule : kRules) {
    if (to_lower(rule.id) == to_lower(id)) {
      return rule;
    }
    ids.emplace_back(rule.id);
  }
  return unknown_word(id, std::move(ids), "rule", {});
}

}  // namespace sextant::describe
