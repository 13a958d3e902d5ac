// Megatron's rules about the layout, in words. framework_rules_megatron.cc applies them.
#include <array>

#include "describe/layout/rule_book_parts.h"

namespace sextant::describe {
namespace {

// Lines are those of Megatron-LM d98e8a64 (Megatron Core 0.20).
constexpr std::array kMegatronRules{
    Rule{"MEGATRON-BATCH-MICRO", "Every microbatch is full", "global_batch % (mbs * dp) == 0",
         "Megatron counts microbatches as global_batch / (mbs * dp) and refuses a remainder, with "
         "or without a pipeline; --decrease-batch-size-if-needed rounds the batch down instead. dp "
         "excludes cp.",
         "Choose an mbs that divides global_batch / dp, or a global batch that is a multiple.",
         kMegatronOwner, "Megatron num_microbatches_calculator.py:381-391", "M4"},
    Rule{"MEGATRON-CP-HIERARCHY", "The two levels of a2a+p2p multiply to cp",
         "cp_method is not a2a+p2p, or the hierarchical sizes are given and multiply to cp",
         "The inner group exchanges heads (all-to-all), the outer passes keys and values on (p2p); "
         "every context-parallel rank has one place in both.",
         "Give --hierarchical-context-parallel-sizes INNER OUTER with INNER * OUTER = cp.",
         kMegatronOwner, "Megatron arguments.py:580-585", "M21"},
    Rule{"MEGATRON-EP-OVERLAP", "Overlapped expert exchange has something to overlap with",
         "overlap=ep needs ep > 1, dispatcher alltoall or deepep, bf16 or fp16, no full recompute, "
         "no recomputed moe, at most one MTP layer, and no shared-expert overlap",
         "Two microbatches run interleaved, one computing while the other's tokens travel. Full "
         "recomputation, and recomputing the whole MoE layer, would send the tokens a second time "
         "in the backward pass; the all-gather dispatcher has no exchange of its own.",
         "Drop ep from overlap, or change the setting that the message names.", kMegatronOwner,
         "Megatron transformer_config.py:3002-3046", "M40"},
    Rule{"MEGATRON-EP-OVERLAP-VPP", "Overlapped expert exchange in a pipeline needs interleaving",
         "overlap=ep needs vpp > 1 where pp > 1",
         "The exchange of one microbatch hides behind another's compute; in a pipeline only the "
         "interleaved schedule has two microbatches at hand on a rank. Asking for the overlap thus "
         "forces vpp, and vpp forces the number of microbatches (MEGATRON-VPP-MICROBATCHES).",
         "Set vpp=2 or more with schedule=interleaved-1f1b, or drop ep from overlap.",
         kMegatronOwner, "Megatron transformer_config.py:3002-3046", "M40"},
    Rule{"MEGATRON-EXPERT-BIAS-ETP", "Experts with biases are not split",
         "etp == 1 where the experts' linears have biases",
         "Each shard would add the whole bias and the sum over shards would hold it etp times.",
         "Set etp=1, or --disable-bias-linear for a model without biases.", kMegatronOwner,
         "Megatron transformer_config.py:2612", "M19"},
    Rule{"MEGATRON-EXPERT-DP-ORDER", "Expert and dense ranks agree on the pipeline",
         "order ends in pp, or pp == 1, or the experts' data parallelism equals dp",
         "Dense and expert groups are cut from the same ranks by the same order. Where pp is not "
         "outermost, groups of different size would put one rank into two pipeline stages.",
         "Use order=tp-cp-ep-dp-pp, or ep * etp = tp * cp.", kMegatronOwner,
         "Megatron parallel_state.py:898", "M3"},
    Rule{"MEGATRON-FSDP", "Megatron-FSDP's own limits",
         "zero 2 or 3 (--use-megatron-fsdp) needs optimizer adam or sgd, ckpt_format fsdp_dtensor "
         "and CUDA_DEVICE_MAX_CONNECTIONS other than 1",
         "Its sharded buffers know the element-wise optimizers only, and its gathers must run "
         "beside compute, which one hardware queue would serialise.",
         "Use optimizer=adam, --ckpt-format fsdp_dtensor, and leave CUDA_DEVICE_MAX_CONNECTIONS "
         "unset or at 8 or more.",
         kMegatronOwner, "Megatron arguments.py:1116-1170", "M35"},
    Rule{"MEGATRON-GDN-HEADS", "Gated DeltaNet heads divide over tp and cp",
         "key heads % (tp * cp) == 0 and value heads % (tp * cp) == 0",
         "A recurrent layer needs the whole sequence, so context parallelism deals its heads, on "
         "top of tensor parallelism.",
         "Choose tp * cp that divides both numbers of heads.", kMegatronOwner,
         "Megatron transformer_config.py:1501-1509", "M47"},
    Rule{"MEGATRON-MAMBA-GROUPS", "Mamba groups divide over tp",
         "groups % tp == 0, heads % groups == 0, and with FP8 (2 * inner + 2 * groups * state + "
         "heads) % 16 == 0",
         "A group's B and C are shared by its heads, so groups are dealt whole and hold equal "
         "numbers of heads; FP8 products need widths that are multiples of 16.",
         "Choose a tp that divides the groups; use bf16 where the width is not a multiple of 16.",
         kMegatronOwner, "Megatron ssm/mamba_mixer.py:250-274", "M46"},
    Rule{"MEGATRON-MOE-TP-SP", "Experts with tensor parallelism need sequence parallelism",
         "sp == 1 where tp > 1 and the model has experts",
         "Without sequence parallelism every tensor-parallel rank would route the same tokens. The "
         "MoE layer raises when it trains, the configuration only warns.",
         "Set sp=1, or tp=1.", kMegatronOwner,
         "Megatron moe/moe_layer.py:636, model_parallel_config.py:560 (warns)", "M17"},
    Rule{"MEGATRON-P2P-OVERLAP", "Overlapped pipeline messages need interleaving",
         "overlap=p2p has an effect only where vpp > 1",
         "A risk, not an error: without vpp Megatron switches overlap_p2p_comm off without a word, "
         "and each boundary message is exposed.",
         "Set vpp > 1, or drop p2p from overlap so that the prediction matches the run.",
         kMegatronOwner, "Megatron arguments.py:1011", "M31"},
    Rule{"MEGATRON-PARAM-GATHER", "Overlapped parameter gathers need their companions",
         "overlap=param_gather needs overlap=grad_reduce and zero >= 1",
         "Gathers are issued bucket by bucket in the buckets of the overlapped gradient reduction, "
         "and only the distributed optimizer or FSDP has parameters to gather.",
         "Add grad_reduce to overlap and use zero=1, or drop param_gather.", kMegatronOwner,
         "Megatron arguments.py:1024-1029", "M32"},
    Rule{"MEGATRON-SEQ-CP", "Every context-parallel rank takes two chunks",
         "seq % (2 * cp) == 0, whatever the method",
         "Megatron cuts sequences for load balance before it knows the method, so the all-to-all "
         "one, which could live with seq % cp == 0, needs it as well.",
         "Choose a cp whose double divides the sequence length.", kMegatronOwner,
         "Megatron arguments.py:1336", "M12"},
    Rule{"MEGATRON-TP-OVERLAP-SP", "Overlapped tensor-parallel messages need sequence parallelism",
         "overlap=tp needs sp == 1",
         "What overlaps with the products are the all-gather and reduce-scatter of sequence "
         "parallelism; a plain all-reduce is not split.",
         "Set sp=1 (and tp > 1), or drop tp from overlap.", kMegatronOwner,
         "Megatron arguments.py:1442", "M16"},
    Rule{"MEGATRON-VPP-MICROBATCHES", "Interleaving needs a multiple of pp microbatches",
         "vpp == 1, or for the microbatch group N (pp by default): pp <= N <= microbatches and "
         "microbatches % N is 0 or at least pp",
         "The interleaved schedule walks the chunks in groups of N microbatches and a rest smaller "
         "than the pipeline would stall it. So the global batch forces the choice of pp and vpp: "
         "global_batch / (mbs * dp) must be a multiple of pp, or vpp must be 1.",
         "Change the global batch, mbs or dp so that microbatches are a multiple of pp; set "
         "--microbatch-group-size-per-virtual-pipeline-stage; or use vpp=1.",
         kMegatronOwner, "Megatron pipeline_parallel/schedules.py:1160-1180", "M30"},
    Rule{"MEGATRON-VPP-PP", "Interleaving over two ranks needs overlapped messages",
         "vpp == 1, or pp > 1 with overlap=p2p, or pp > 2",
         "With two ranks a chunk's input and output go to the same neighbour; unless the messages "
         "are issued asynchronously two sends and receives of one batch would meet.",
         "Add p2p to overlap (do not pass --no-overlap-p2p-communication), or use vpp=1 or pp > 2.",
         kMegatronOwner, "Megatron arguments.py:1000-1008", "M29"},
};

}  // namespace

std::span<const Rule> megatron_rules() {
  return kMegatronRules;
}

}  // namespace sextant::describe
