// The rules of DeepSpeed, MaxText, Accelerate and nanotron in words, and one about any settings.
#include <array>

#include "describe/layout/rule_book_parts.h"

namespace sextant::describe {
namespace {

constexpr std::array kOtherFrameworkRules{
    Rule{"ACCELERATE-BATCH-MICRO", "Every microbatch is full", "global_batch % (mbs * dp) == 0",
         "The batch follows from per_device_train_batch_size * gradient_accumulation_steps * dp.",
         "Choose an mbs that divides global_batch / dp.", "accelerate",
         "nowhere: the batch is worked out", ""},
    Rule{"ACCELERATE-CP-SP", "Context and sequence parallelism exclude each other",
         "cp_size == 1 or sp_size == 1 (no cp_method=a2a+p2p)",
         "CP is PyTorch's ring, SP DeepSpeed's Ulysses; each wants the sequence dimension for "
         "itself.",
         "Keep one of parallelism_config_cp_size and parallelism_config_sp_size.", "accelerate",
         "Accelerate parallelism_config.py", "A1"},
    Rule{"ACCELERATE-DDP-TP", "Plain replicas do not compose with TP or CP",
         "not (dp_replicate > 1 and dp_shard == 1 and (tp > 1 or cp > 1))",
         "DDP wraps whole parameters, tensor and context parallelism need FSDP2's meshes.",
         "Shard over data parallelism (zero=3), or use tp=1 and cp=1.", "accelerate",
         "Accelerate parallelism_config.py", "A2"},
    Rule{"ACCELERATE-FSDP2", "Parallelism beyond data needs FSDP version 2",
         "distributed_type FSDP with a parallelism_config needs fsdp_version 2",
         "FSDP 1 shards flat parameters that no other parallelism can split.",
         "Set fsdp_config.fsdp_version: 2.", "accelerate", "Accelerate parallelism_config.py",
         "A4"},
    Rule{"ACCELERATE-WORLD", "The parallelism sizes multiply to the processes",
         "dp_replicate * dp_shard * cp * sp * tp == num_processes",
         "Every process has one place in the mesh; no size is filled in.",
         "Correct one of the sizes or num_processes (all machines together).", "accelerate",
         "Accelerate parallelism_config.py", "A3"},
    Rule{"DEEPSPEED-BATCH", "The three batch numbers agree",
         "train_batch_size == train_micro_batch_size_per_gpu * gradient_accumulation_steps * dp",
         "Two of them define the third, with dp = world / sequence_parallel_size / model "
         "parallelism; all three are checked. So every microbatch is full.",
         "Leave one of the three out, or correct it.", "deepspeed",
         "DeepSpeed runtime/config.py:937, 721", "D1"},
    Rule{"DEEPSPEED-DUPLICATE", "Every key once", "no key is given twice",
         "The configuration is read by a parser that refuses repeated keys.",
         "Delete one of the two.", "deepspeed", "DeepSpeed runtime/config_utils.py", "D4"},
    Rule{"DEEPSPEED-FP16-BF16", "One sixteen-bit format", "not both fp16.enabled and bf16.enabled",
         "Parameters have one format.", "Disable one of the two.", "deepspeed",
         "DeepSpeed runtime/config.py", "D5"},
    Rule{"DEEPSPEED-NO-ETP", "Experts are not split", "etp == 1",
         "AutoEP deals whole experts; expert tensor parallelism is 1.", "Set etp=1.", "deepspeed",
         "DeepSpeed AutoEP", "D3"},
    Rule{"DEEPSPEED-ZERO-PP", "Pipelines keep whole gradients", "zero <= 1 where pp > 1",
         "The pipeline engine accumulates gradients over microbatches; ZeRO 2 and 3 would reduce "
         "and free them after each.",
         "Use zero=1 with pp > 1, or pp=1.", "deepspeed", "DeepSpeed runtime/pipe/engine.py", "D6"},
    Rule{"MAXTEXT-BATCH-MICRO", "Every microbatch is full", "global_batch % (mbs * dp) == 0",
         "The batch follows from per_device_batch_size * gradient_accumulation_steps * devices.",
         "Choose an mbs that divides global_batch / dp.", "maxtext",
         "nowhere: the batch is worked out", ""},
    Rule{"MAXTEXT-DCN-TENSOR", "Tensor parallelism stays inside a slice",
         "dcn_tensor_parallelism == 1 and its kin",
         "A risk: the axis is allowed across slices, and its messages, several a layer, then cross "
         "the data-centre network. The configuration itself calls it never recommended.",
         "Use ici_tensor_parallelism, and dcn_data_parallelism across slices.", "maxtext",
         "MaxText configs/base.yml", "X6"},
    Rule{"MAXTEXT-DELAYED", "Delayed forwarding needs twice the microbatches",
         "pipeline_delay_activation_forwarding needs num_pipeline_microbatches >= 2 * stages",
         "Each boundary takes one microbatch more to cross, so that it can hide behind compute.",
         "Raise num_pipeline_microbatches, or switch the delay off.", "maxtext",
         "MaxText configs/types.py:3605-3624", "X3"},
    Rule{
        "MAXTEXT-LAYERS", "Every stage holds as many layers",
        "layers == stages * num_layers_per_pipeline_stage * num_pipeline_repeats",
        "Stages are one compiled program run on all of them; embedding and head stand outside the "
        "pipeline and take no layer's place.",
        "Choose pp * vpp that divides the layers (or pipeline_parallel_layers for a part of them).",
        "maxtext", "MaxText configs/types.py:3605-3624", "X4"},
    Rule{"MAXTEXT-MESH", "The mesh is the machine",
         "the ici_* sizes multiply to the devices of a slice, the dcn_* sizes to the slices; one "
         "of each may be -1",
         "Every device has one place; -1 is filled with what is left, which must divide.",
         "Correct the sizes, or set ici_fsdp_parallelism=-1.", "maxtext",
         "MaxText configs/types.py", "X5"},
    Rule{"MAXTEXT-MICROBATCHES", "Microbatches come in whole rounds of the stages",
         "microbatches % stages == 0, and the batch of a step % microbatches == 0",
         "The circular pipeline feeds one microbatch a stage and round.",
         "Choose num_pipeline_microbatches as a multiple of pp that divides the batch.", "maxtext",
         "MaxText configs/types.py:3605-3624", "X1, X2"},
    Rule{"NANOTRON-BATCH-MICRO", "Every microbatch is full", "global_batch % (mbs * dp) == 0",
         "The batch is stated as micro_batch_size * batch_accumulation_per_replica * dp.",
         "Choose an mbs that divides global_batch / dp.", "nanotron",
         "nanotron config (TokensArgs)", "N4"},
    Rule{"NANOTRON-KV-HEADS-TP", "Key/value heads are not replicated", "kv_heads % tp == 0",
         "nanotron splits key and value heads and does not copy them, like torchtitan and unlike "
         "Megatron.",
         "Choose a tp that divides kv_heads.", "nanotron", "nanotron models/llama.py", "N3"},
    Rule{"NANOTRON-SCHEDULE", "Two pipeline engines", "schedule is 1f1b or gpipe (afab)",
         "parallelism.pp_engine knows 1f1b and afab; a rank holds one run of layers.",
         "Use schedule=1f1b and vpp=1.", "nanotron", "nanotron config/parallelism_config.py", "N5"},
    Rule{"NANOTRON-ZERO", "ZeRO-1 at most", "zero <= 1",
         "optimizer.zero_stage is 0 or 1; gradients and parameters stay whole.", "Use zero=1.",
         "nanotron", "nanotron config (OptimizerArgs)", "N6"},
    Rule{"SETTING-REPEATED", "A setting stands once", "no key is given twice with different values",
         "A risk: the frameworks take the last one and say nothing, so that the run is not what "
         "the first line of its script says.",
         "Delete the one that is not meant.", "", "nowhere: the last one stands", ""},
};

}  // namespace

std::span<const Rule> other_framework_rules() {
  return kOtherFrameworkRules;
}

}  // namespace sextant::describe
