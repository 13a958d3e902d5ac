// The core rules in words: what must hold anywhere, why, and what to change. rules.cc applies them.
#include <array>

#include "describe/layout/rule_book_parts.h"

namespace sextant::describe {
namespace {

// Lines are those of the revisions that rule_sources() names.
constexpr std::array kCoreRules{
    Rule{"BATCH-DP", "The global batch is shared equally by the data-parallel replicas",
         "global_batch % dp == 0",
         "Every replica must contribute the same number of sequences, or the gradient average is "
         "wrong and replicas wait for each other. Megatron: num_microbatches_calculator.py.",
         "Change the global batch to a multiple of dp, or choose a dp that divides it.", "",
         "Megatron num_microbatches_calculator.py:381-391; torchtitan trainer.py:419; DeepSpeed "
         "runtime/config.py:937",
         "M4, T8, D1"},
    Rule{"BATCH-MICRO", "Microbatches of a pipeline have one size",
         "pp == 1 or (global_batch / dp) % mbs == 0",
         "Pipeline buffers and point-to-point messages have fixed shapes. Without a pipeline the "
         "last microbatch may be smaller (Composer does this).",
         "Choose an mbs that divides global_batch / dp.", "",
         "Megatron num_microbatches_calculator.py:381-391; torchtitan trainer.py:419; MaxText "
         "configs/types.py:3605-3624",
         "M4, T8, X2"},
    Rule{"EP-DOMAIN", "Expert groups stay inside a scale-up domain",
         "ep * etp <= devices of a scale-up domain",
         "Nothing refuses it: this is a note. An expert group takes consecutive ranks of the order "
         "tp, cp, ep, dp, pp, so with ep * etp up to the domain's size the all-to-all stays on "
         "NVLink; beyond it every layer's dispatch and combine crosses the network, which is "
         "several times slower a device.",
         "Lower ep to the domain's size, use a dispatcher that sends each token once a node "
         "(dispatcher=deepep), or overlap the exchange (overlap=ep).",
         "", "nowhere: it runs, slower", ""},
    Rule{"EXPERT-FFN-ETP", "Expert tensor parallelism splits the experts' width equally",
         "expert width % etp == 0",
         "Column- and row-parallel products need equal shards (tensor_parallel/layers.py).",
         "Choose an etp that divides the experts' feed-forward width.", "",
         "Megatron tensor_parallel/layers.py:1038, 1408", "M10"},
    Rule{"EXPERT-WORLD", "Expert groups tile the ranks of a pipeline stage",
         "(tp * cp * dp) % (ep * etp) == 0",
         "Experts are laid over the ranks that hold the same layers; what is left is the experts' "
         "own data parallelism (parallel_state.py).",
         "Choose ep * etp that divides tp * cp * dp.", "",
         "Megatron parallel_state.py:874-883; torchtitan parallel_dims.py:188; DeepSpeed AutoEP; "
         "nanotron parallel/context.py",
         "M2, T2, D2, N2"},
    Rule{"EXPERTS-EP", "Expert parallelism deals whole experts", "ep == 1 or experts % ep == 0",
         "Each rank holds experts / ep experts; a model without experts has nothing to deal "
         "(arguments.py).",
         "Choose an ep that divides the number of experts, 1 for a dense model.", "",
         "Megatron arguments.py:1655-1657; torchtitan decoder.py:204", "M18, T4"},
    Rule{"FFN-TP", "Tensor parallelism splits the feed-forward width equally",
         "ffn width % tp == 0",
         "Column- and row-parallel products need equal shards (tensor_parallel/layers.py).",
         "Choose a tp that divides the feed-forward width.", "",
         "Megatron tensor_parallel/layers.py:1038, 1408", "M10"},
    Rule{"HEADS-CP", "All-to-all context parallelism deals whole heads",
         "(heads / tp) % cp == 0, or for a2a+p2p of its inner group",
         "Ulysses-style context parallelism exchanges sequence shards for head shards: each rank "
         "must get at least one whole query head.",
         "Lower cp, or use cp_method=p2p or all_gather.", "",
         "Transformer Engine and DeepSpeed-Ulysses, when attention is built", ""},
    Rule{"HEADS-TP", "Tensor parallelism deals whole attention heads", "heads % tp == 0",
         "Attention is computed head by head; half a head cannot be computed alone "
         "(transformer_config.py). Mamba-2 and DeltaNet heads follow the same rule.",
         "Choose a tp that divides the number of heads.", "",
         "Megatron transformer_config.py:1446, ssm/mamba_mixer.py:250; torchtitan "
         "decoder.py:186-199; nanotron models/llama.py",
         "M7, M46, M47, T3, N3"},
    Rule{"KV-HEADS-TP",
         "Key/value heads divide over tensor-parallel ranks, or are replicated evenly",
         "kv_heads % tp == 0 or tp % kv_heads == 0",
         "With more ranks than kv heads each head is copied to tp / kv_heads ranks; anything "
         "between is uneven (transformer_config.py). torchtitan does not replicate and needs "
         "kv_heads % tp == 0.",
         "Choose a tp that divides kv_heads or is a multiple of it.", "",
         "Megatron transformer_config.py:1461", "M8"},
    Rule{"LAYERS-STAGES", "The layers fill the pipeline's stages",
         "layers (+ 1 for a counted embedding, + 1 for a counted loss) % (pp * vpp) == 0, or "
         "explicit counts for each stage that sum to layers",
         "Every stage needs a known share of the model. Nearly half of the published best "
         "configurations count embedding and loss as layers or give the stages explicitly.",
         "Use layers_per_stage=emb+loss, give the counts of each stage, or choose pp * vpp that "
         "divides.",
         "",
         "Megatron arguments.py:997; torchtitan pipeline_parallel.py:220-265; MaxText "
         "configs/types.py:3605-3624",
         "M24, T9, X4"},
    Rule{"MEMORY-FIT", "What a rank must hold fits into its device",
         "allocated at the fullest moment + context <= usable memory, on every pipeline rank",
         "Tensors beyond the device's memory end the run. Checked by the memory model "
         "(docs/models/memory.md), not by the layout's numbers alone; between allocated and "
         "reserved it is tight, not refused.",
         "The use case `memory` lists single changes that make it fit: a smaller mbs, more "
         "recomputation, more tp, pp or cp, a higher zero, offloading.",
         "", "nowhere: the run ends out of memory", ""},
    Rule{"PRECISION-DEVICE", "The device has a unit for the precision asked for",
         "the device lists a peak for the matrix products' format",
         "A format without hardware falls back to a slower one or does not run at all.",
         "Choose a precision that the use case `cluster` lists for the device.", "",
         "Transformer Engine, when the first product runs", ""},
    Rule{"RECOMPUTE-MODULE", "Recomputed modules exist in the model",
         "moe, moe_act and shared_experts need experts; mla_up_proj needs latent attention",
         "A policy that names a module the model does not have saves nothing; frameworks refuse or "
         "ignore it (transformer_config.py).",
         "Name modules the model has.", "", "Megatron transformer_config.py:1943-2012", "M38"},
    Rule{"ROUTER-GROUPS", "Group-limited routing is consistent",
         "topk <= experts, experts % groups == 0, topk_groups <= groups",
         "A token picks topk experts among topk_groups equal groups (transformer_config.py).",
         "Correct the model's routing fields.", "", "Megatron transformer_config.py:2671-2690",
         "M20"},
    Rule{
        "SCHEDULE-VPP", "The schedule and the number of chunks agree",
        "gpipe, 1f1b: vpp == 1; interleaved-1f1b, looped-bfs, interleaved-zb: vpp > 1; zbv, "
        "dualpipev: vpp == 2; all: vpp == 1 where pp == 1",
        "A schedule is a table over pp * vpp stages; V-shaped ones hold exactly two chunks a rank.",
        "Set vpp or schedule to match.", "",
        "Megatron arguments.py:1000-1008; torchtitan pipeline_parallel.py:220-265", "M29, T9"},
    Rule{"SEQ-CP", "Context parallelism splits the sequence into balanced shares",
         "seq % (2 * cp) == 0 (p2p, all_gather, a2a+p2p), seq % cp == 0 (a2a)",
         "Causal attention costs more for later tokens; each rank takes one early and one late "
         "chunk (arguments.py).",
         "Choose a cp whose double divides the sequence length.", "",
         "Megatron arguments.py:1336; torchtitan trainer.py:300", "M12, T7"},
    Rule{"SEQ-POSITIONS", "Learned positions cover the sequence", "seq <= learned positions",
         "A learned position table has a fixed number of rows; rotary positions have no such limit "
         "(arguments.py).",
         "Shorten the sequence or enlarge the position table.", "", "Megatron arguments.py:1354",
         "M14"},
    Rule{"SEQ-SP", "Sequence parallelism splits the tokens of a rank equally",
         "sp == 0 or (seq / cp) % tp == 0",
         "The reduce-scatter over the sequence dimension needs equal shards "
         "(tensor_parallel/mappings.py).",
         "Choose a tp that divides seq / cp, or sp=0.", "",
         "Megatron tensor_parallel/mappings.py:74, 178; torchtitan trainer.py:300", "M13, T7"},
    Rule{"SP-TP", "Sequence parallelism needs tensor parallelism", "sp == 0 or tp > 1",
         "It is the same group's work on the parts TP leaves whole. Megatron's arguments.py "
         "switches it off silently without TP; its core refuses.",
         "Set sp=0 or tp > 1.", "",
         "Megatron arguments.py:1433 (switches it off), model_parallel_config.py:502-504 (refuses)",
         "M15"},
    Rule{"VOCAB-TP", "Every tensor-parallel rank holds part of the vocabulary",
         "tp <= vocabulary (padded up to a multiple of 128 * tp by Megatron)",
         "Embedding and output head are split by vocabulary rows; padding rows are computed and "
         "stored like real ones (vocab_utils.py).",
         "Lower tp.", "", "Megatron training/vocab_utils.py:45 (pads)", "M11"},
    Rule{"WORLD-PRODUCT", "The axes multiply to the number of devices",
         "tp * cp * pp * dp == devices",
         "Every device has exactly one place in the layout; expert parallelism is carved out of "
         "dp, cp and tp and does not multiply (parallel_state.py).",
         "Change dp, or choose axes whose product divides the number of devices.", "",
         "Megatron arguments.py:432, parallel_state.py:815-823; torchtitan parallel_dims.py:182; "
         "Accelerate parallelism_config.py; nanotron parallel/context.py",
         "M1, T1, A3, N1"},
    Rule{"ZERO-GROUP", "Shard groups tile the data-parallel ranks",
         "zero_group == 0 or (dp * cp) % zero_group == 0",
         "Sharded states live on equal groups of ranks that hold the same parameters.",
         "Choose a zero_group that divides dp * cp.", "", "Megatron parallel_state.py:808, 922",
         "M6"},
};

}  // namespace

std::span<const Rule> core_rules() {
  return kCoreRules;
}

}  // namespace sextant::describe
