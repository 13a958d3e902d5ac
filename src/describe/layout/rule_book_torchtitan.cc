// torchtitan's rules in words. framework_rules_torchtitan.cc and emit/setting_rules.h apply them.
#include <array>

#include "describe/layout/rule_book_parts.h"

namespace sextant::describe {
namespace {

constexpr std::string_view kTorchtitanOwner = "torchtitan";

// Lines are those of torchtitan b5bcd76c6.
constexpr std::array kTorchtitanRules{
    Rule{"TORCHTITAN-BATCH-MICRO", "Every microbatch is full", "global_batch % (mbs * dp) == 0",
         "Tokens of a step are counted as whole microbatches of every replica; there is no smaller "
         "last one.",
         "Choose an mbs that divides global_batch / dp.", kTorchtitanOwner,
         "torchtitan trainer.py:419", "T8"},
    Rule{
        "TORCHTITAN-COMPILE", "What the compiler does needs the compiler",
        "asynchronous TP (overlap=tp) and MemoryBudgetAC need compile of the model",
        "Asynchronous tensor parallelism is a rewrite of the compiled graph, and the memory budget "
        "is solved by the compiler's partitioner.",
        "Set compile=1 (compile.enable with component model), or drop them.", kTorchtitanOwner,
        "torchtitan trainer.py:157, configs.py", "T12"},
    Rule{"TORCHTITAN-CONTEXT", "The sequence fits the model's own context",
         "seq <= the model's maximal positions",
         "Rotary tables are built for the model's maximum and not extended. Versions before 0.2 "
         "grew the table with the sequence.",
         "Shorten the sequence, or raise the model's maximum.", kTorchtitanOwner,
         "torchtitan decoder.py:219", "T13"},
    Rule{"TORCHTITAN-CP-FLEX", "Context parallelism needs FlexAttention and spmd_types",
         "context_parallel_degree > 1 needs spmd_backend spmd_types and a FlexAttention model",
         "Other attention back ends do not rotate keys and values in this version; releases up to "
         "0.2.2 did so with SDPA.",
         "Set parallelism.spmd_backend to spmd_types and use the model's flex_attn flavour.",
         kTorchtitanOwner, "torchtitan decoder.py:172-184", "T6"},
    Rule{"TORCHTITAN-EP-SHARD", "Expert parallelism borrows from the sharded ranks",
         "(dp_shard * cp * tp) % ep == 0",
         "Expert groups are cut from FSDP's shard group, context and tensor parallelism; replicas "
         "of HSDP are not borrowed. Megatron borrows from all of dp.",
         "Choose an ep that divides zero_group * tp, or a larger zero_group.", kTorchtitanOwner,
         "torchtitan parallel_dims.py:188", "T2"},
    Rule{"TORCHTITAN-FEW-MICROBATCHES", "The pipeline has enough microbatches",
         "microbatches >= pp * vpp",
         "torchtitan only warns and runs with a larger bubble; PyTorch's single-stage schedules "
         "(1f1b, gpipe) refuse fewer microbatches than stages (pytorch issue 144702).",
         "Lower mbs, raise the global batch, or lower pp.", kTorchtitanOwner,
         "torchtitan pipeline_parallel.py:305; torch.distributed.pipelining", "T10"},
    Rule{"TORCHTITAN-GRAPHS", "CUDA graphs exclude pipelines",
         "pp > 1 needs training.disable_cuda_graphs; ep > 1 needs it unless the exchange is "
         "HybridEP (non-blocking) or MinimalAsyncEP",
         "Graphs are on by default; a pipeline's schedule and an exchange that waits for sizes on "
         "the host cannot be captured.",
         "Set training.disable_cuda_graphs (a launch other than cuda-graph).", kTorchtitanOwner,
         "torchtitan trainer.py:166-198", "T11"},
    Rule{"TORCHTITAN-KV-HEADS-TP", "Key/value heads are not replicated", "kv_heads % tp == 0",
         "torchtitan shards key and value projections by whole heads and does not copy them, where "
         "Megatron lets tp be a multiple of kv_heads. A tp that works there may be refused here.",
         "Choose a tp that divides kv_heads, and use cp or dp for the rest.", kTorchtitanOwner,
         "torchtitan models/common/decoder.py:186-199", "T3"},
    Rule{"TORCHTITAN-NO-ETP", "Experts are not split", "etp == 1",
         "Expert tensor parallelism went with release 0.2.2; experts are dealt by ep only.",
         "Set etp=1 and a larger ep.", kTorchtitanOwner, "torchtitan parallel_dims.py:188", "T2"},
    Rule{"TORCHTITAN-STAGES", "Layers a stage give a whole number of stages a rank",
         "ceil((layers + first_less + last_less) / layers_per_stage) % pp == 0; one stage a rank "
         "for single-stage schedules, two or more for looped ones",
         "Stages are dealt round the ranks; a rest would leave ranks with fewer stages.",
         "Choose pipeline_parallel_layers_per_stage so that the stages are a multiple of pp.",
         kTorchtitanOwner, "torchtitan distributed/pipeline_parallel.py:220-265", "T9"},
    Rule{"TORCHTITAN-TIED-PP", "Tied embeddings exclude pipelines", "pp == 1 where tied",
         "Embedding and head would live on different stages; torchtitan has no exchange for their "
         "gradient. Megatron sums it over both stages.",
         "Use pp=1, or an untied model.", kTorchtitanOwner, "torchtitan decoder.py:168", "T5"},
    Rule{"TORCHTITAN-TOKENS", "A microbatch's tokens divide over sp and cp together",
         "(mbs * seq) % ((sp ? tp : 1) * (cp > 1 ? 2 * cp : 1)) == 0",
         "One check for both: the product must divide, where the core rules ask for each alone.",
         "Choose tp and cp whose product (times 2) divides mbs * seq.", kTorchtitanOwner,
         "torchtitan trainer.py:300", "T7"},
};

}  // namespace

std::span<const Rule> torchtitan_rules() {
  return kTorchtitanRules;
}

}  // namespace sextant::describe
