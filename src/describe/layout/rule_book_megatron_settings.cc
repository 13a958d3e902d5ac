// Megatron's rules about switches, files and the environment, in words. emit/setting_rules.h
// applies them; Megatron-Bridge shares them.
#include <array>

#include "describe/layout/rule_book_parts.h"

namespace sextant::describe {
namespace {

// Lines are those of Megatron-LM d98e8a64 (Megatron Core 0.20).
constexpr std::array kMegatronSettingRules{
    Rule{"MEGATRON-BATCH-SCHEDULE", "One statement of the batch size",
         "step_batch_size_schedule is not combined with global_batch_size or rampup_batch_size",
         "The schedule states every batch size of the run; a second statement would contradict it.",
         "Drop --global-batch-size (and --rampup-batch-size), or the schedule.", kMegatronOwner,
         "Megatron arguments.py", ""},
    Rule{"MEGATRON-CAPACITY", "Expert capacity is consistent",
         "moe_pad_expert_input_to_capacity needs moe_expert_capacity_factor, which needs "
         "moe_router_load_balancing_type to be of the aux_loss kind or none",
         "Padding needs a size to pad to; other balancing methods assign tokens themselves, so "
         "there is nothing to drop.",
         "Give --moe-expert-capacity-factor, or drop the padding; use aux_loss, seq_aux_loss, "
         "global_aux_loss or none.",
         kMegatronOwner, "Megatron transformer_config.py:1836-1866", "M44"},
    Rule{"MEGATRON-CONNECTIONS", "One hardware queue where messages must start in order",
         "CUDA_DEVICE_MAX_CONNECTIONS == 1 where tp > 1 or cp > 1 on devices before Blackwell, "
         "without FSDP",
         "With one queue kernels start in the order they were issued, so that a message starts "
         "before the product meant to hide it. Blackwell orders them by priority.",
         "export CUDA_DEVICE_MAX_CONNECTIONS=1 in the job's environment.", kMegatronOwner,
         "Megatron arguments.py:1455-1479", "M52"},
    Rule{"MEGATRON-CP-COMM-LIST", "One context-parallel method, or one a layer",
         "cp_comm_type has one value, or as many as there are layers",
         "A list is read layer by layer; one of another length leaves layers without a method.",
         "Give one word, or num_layers words.", kMegatronOwner,
         "Megatron transformer_config.py:3103", "M22"},
    Rule{"MEGATRON-CPU-OFFLOAD", "Offloading of layers runs alone",
         "cpu_offloading_num_layers > 0 needs pp == 1 and no recompute",
         "It hooks saved tensors of whole layers, which pipelining keeps per microbatch and "
         "recomputation does not save.",
         "Use --fine-grained-activation-offloading, which works in pipelines.", kMegatronOwner,
         "Megatron transformer_config.py:1884-1899", "M39"},
    Rule{"MEGATRON-DELAY-WGRAD", "Delayed weight gradients need overlapped expert exchange",
         "delay_wgrad_compute needs overlap_moe_expert_parallel_comm",
         "Weight gradients are put off to fill the gaps of the overlapped exchange; without it "
         "there are none.",
         "Add --overlap-moe-expert-parallel-comm, or drop --delay-wgrad-compute.", kMegatronOwner,
         "Megatron transformer_config.py:3072", "M41"},
    Rule{"MEGATRON-DISTRIBUTE-SAVED", "Distributed checkpoints of activations",
         "distribute_saved_activations needs tp > 1, recompute_granularity full and no sp",
         "It spreads a layer's saved input over tensor-parallel ranks; sequence parallelism has "
         "done so already.",
         "Drop --distribute-saved-activations.", kMegatronOwner,
         "Megatron arguments.py:1410-1428, transformer_config.py:1901-1938", "M37"},
    Rule{"MEGATRON-EVAL-BATCH", "The evaluation batch divides like the training batch",
         "eval_global_batch_size % (eval_micro_batch_size * dp) == 0",
         "Evaluation runs the same pipeline with the same replicas.",
         "Choose a multiple of eval_micro_batch_size * dp.", kMegatronOwner,
         "Megatron arguments.py:715", "M5"},
    Rule{"MEGATRON-FIRST-LAST", "Counts of the first and last stage leave an even middle",
         "each count % vpp == 0; the other layers % the other stages == 0 and their share % vpp == "
         "0; not combined with account_for_*_in_pipeline_split",
         "Only the two ends may differ; the middle is dealt evenly, chunk by chunk.",
         "Change the counts, or give --pipeline-model-parallel-layout.", kMegatronOwner,
         "Megatron transformer_config.py:2229-2370", "M27"},
    Rule{"MEGATRON-FP16-BF16", "One sixteen-bit format", "not both fp16 and bf16",
         "Parameters have one format.", "Keep --bf16 and drop --fp16.", kMegatronOwner,
         "Megatron arguments.py", ""},
    Rule{"MEGATRON-FP4-FP8", "FP4 and FP8 exclude each other",
         "not both fp4_format and fp8_format; fp4_param_gather needs fp4_format",
         "A product runs in one format; parameters can be gathered in FP4 only where they are.",
         "Keep one of --fp4-format and --fp8-format.", kMegatronOwner,
         "Megatron arguments.py:1095-1105", "M36"},
    Rule{"MEGATRON-FP8-GATHER", "FP8 parameters need sharded states",
         "fp8_param_gather (parameters=fp8) needs use_distributed_optimizer, use_megatron_fsdp or "
         "use_torch_fsdp2",
         "The FP8 copy is made from the sharded master weights when parameters are gathered.",
         "Add --use-distributed-optimizer, or drop --fp8-param-gather.", kMegatronOwner,
         "Megatron arguments.py:1095-1105", "M36"},
    Rule{"MEGATRON-GATHER-WITH-STEP", "Gathers inside the optimizer step need all their companions",
         "overlap_param_gather_with_optimizer_step needs use_distributed_optimizer, "
         "overlap_param_gather, vpp > 1 and no distributed checkpoint",
         "The step is split by model chunk, so that the first chunk's gather runs under the next "
         "chunk's update; without chunks there is nothing to split.",
         "Add what is missing, or drop the flag.", kMegatronOwner,
         "Megatron arguments.py:1066-1074", "M33"},
    Rule{"MEGATRON-GRAPH-RECOMPUTE", "CUDA graphs of layers exclude full recomputation",
         "recompute_granularity full with CUDA graphs needs cuda_graph_impl full_iteration",
         "A layer's captured graph cannot be replayed inside its own recomputation.",
         "Use selective recomputation, or --cuda-graph-impl full_iteration.", kMegatronOwner,
         "Megatron transformer_config.py:2854", "M42"},
    Rule{"MEGATRON-GTP", "Weight shards inside tensor parallelism",
         "tensor_parallel_num_weight_shards is a multiple of tp and takes its factor from the "
         "world; ckpt_format torch or torch_dist; no ddp_average_in_collective; one optimizer "
         "instance; MXFP8 with fp8_param_gather and reuse_grad_buf_for_mxfp8_param_ag",
         "Sharded weights are gathered just in time by ranks taken out of data parallelism; their "
         "gradients are scaled and saved by the paths that know about it.",
         "Correct the setting that the message names, or drop the shards.", kMegatronOwner,
         "Megatron arguments.py:1525-1590, parallel_state.py:808", "M1, M6, M49"},
    Rule{"MEGATRON-HEAD-WIDTH", "The head width is stated or follows from the hidden width",
         "kv_channels is given, or hidden_size % num_attention_heads == 0",
         "Without kv_channels Megatron divides one by the other.",
         "Give --kv-channels (the model's head_dim).", kMegatronOwner, "Megatron arguments.py:1332",
         "M9"},
    Rule{"MEGATRON-HYBRID-PATTERN", "A hybrid pattern fills the pipeline",
         "segments of hybrid_layer_pattern % pp == 0",
         "The segments between '|' are the stages in model order; every rank holds as many.",
         "Move the '|' so that their number plus one is a multiple of pp.", kMegatronOwner,
         "Megatron arguments.py:849", "M28"},
    Rule{"MEGATRON-HYPER", "Hyper-connections run without a pipeline",
         "enable_mhc_connections needs pp == 1, no MTP and no full recompute",
         "Several residual streams pass between layers, which stage boundaries and whole-layer "
         "recomputation do not carry.",
         "Use pp=1, selective recomputation, and no --mtp-num-layers.", kMegatronOwner,
         "Megatron transformer_config.py:2063-2098", "M48"},
    Rule{"MEGATRON-LAYOUT-STRING", "The pipeline layout names every part once",
         "stages % pp == 0; first E, last L, one of each; as many t as layers; as many m as "
         "mtp_num_layers, in one stage of the last chunk, not on the first rank, after all t",
         "Stage s of the string goes to rank s % pp. What is missing would not be computed.",
         "Correct --pipeline-model-parallel-layout.", kMegatronOwner,
         "Megatron arguments.py:945, pipeline_parallel_layer_layout.py:84-150", "M26"},
    Rule{"MEGATRON-MLA-GQA", "Latent attention has no query groups",
         "not both multi_latent_attention and group_query_attention",
         "All heads share one latent; there are no key/value heads to group.",
         "Drop --group-query-attention and --num-query-groups.", kMegatronOwner,
         "Megatron arguments.py:1974", "M45"},
    Rule{"MEGATRON-OPTIMIZER-INSTANCES", "Optimizer instances tile the data-parallel ranks",
         "(dp * cp) % num_distributed_optimizer_instances == 0",
         "States are sharded inside an instance and replicated between them.",
         "Choose a number of instances that divides dp * cp.", kMegatronOwner,
         "Megatron parallel_state.py:808, 922", "M6"},
    Rule{"MEGATRON-OPTIMIZER-OFFLOAD", "An offloaded optimizer is the precision-aware one",
         "optimizer_cpu_offload needs use_precision_aware_optimizer",
         "Only that optimizer keeps its states apart from the gradients' buffers.",
         "Add --use-precision-aware-optimizer.", kMegatronOwner, "Megatron arguments.py:1883",
         "M51"},
    Rule{"MEGATRON-POSITIONS", "The position table covers the sequence",
         "max_position_embeddings >= seq_length",
         "Checked for rotary positions too, where nothing would break.",
         "Raise --max-position-embeddings to the sequence length.", kMegatronOwner,
         "Megatron arguments.py:1354", "M14"},
    Rule{"MEGATRON-RECOMPUTE-ARGS", "Recomputation is stated in full or by modules",
         "full needs recompute_method and recompute_num_layers; selective allows neither",
         "Full recomputation works on chunks of layers whose size must be known; selective "
         "recomputation works inside every layer.",
         "Add --recompute-method uniform --recompute-num-layers 1, or drop them.", kMegatronOwner,
         "Megatron arguments.py:1410-1428, transformer_config.py:1901-1938", "M37"},
    Rule{"MEGATRON-RECOMPUTE-MODULES", "Recomputed modules can be recomputed",
         "moe_act needs moe_grouped_gemm; mla_up_proj needs multi_latent_attention; shared_experts "
         "excludes moe_shared_expert_overlap; delayed FP8 scaling excludes moe_act and layernorm",
         "A second forward pass must see the same numbers: delayed scaling would update its "
         "history twice, an overlapped shared expert runs on another stream.",
         "Drop the module or the setting that the message names.", kMegatronOwner,
         "Megatron transformer_config.py:1943-2012", "M38"},
    Rule{"MEGATRON-REMOVED-FLAG", "No flags of the past",
         "no model_parallel_size, batch_size, checkpoint_activations or use_custom_fsdp",
         "Megatron exits on these with a hint at the new name, or does not know them any more.",
         "Use the flag that the message names.", kMegatronOwner, "Megatron arguments.py", ""},
    Rule{"MEGATRON-SHARED-OVERLAP", "An overlapped shared expert needs an exchange to hide under",
         "moe_shared_expert_overlap needs dispatcher alltoall or flex",
         "The shared expert computes while tokens travel; the all-gather dispatcher (the default) "
         "does not split its exchange.",
         "Use --moe-token-dispatcher-type alltoall, or drop the overlap.", kMegatronOwner,
         "Megatron transformer_config.py:1820", "M43"},
    Rule{"MEGATRON-TE-LOSS", "The fused loss is Megatron's own",
         "cross_entropy_fusion_impl is native",
         "Megatron-LM's arguments refuse Transformer Engine's loss for its stability; "
         "Megatron-Bridge does not go through them and uses it.",
         "Use --cross-entropy-fusion-impl native.", kMegatronOwner, "Megatron arguments.py:1697",
         "M50"},
    Rule{"MEGATRON-TORCH-FSDP", "PyTorch FSDP2's limits",
         "use_torch_fsdp2 needs pp == 1, ep == 1, no distributed optimizer, no gradient "
         "accumulation fusion, untied embeddings, no fp16, and CUDA_DEVICE_MAX_CONNECTIONS other "
         "than 1",
         "It wraps whole modules and owns their gradients; a second owner, or one hardware queue "
         "for its gathers, does not work.",
         "Correct the setting that the message names, or use --use-megatron-fsdp.", kMegatronOwner,
         "Megatron arguments.py:1031-1050", "M34"},
    Rule{"MEGATRON-VIRTUAL-LAYERS", "Virtual stages hold whole layers",
         "layers (with counted embedding and loss) % pp == 0 and (layers / pp) % "
         "num_layers_per_virtual_pipeline_stage == 0",
         "The number of chunks is what is left after both divisions.",
         "Choose a count that divides the layers of a rank.", kMegatronOwner,
         "Megatron arguments.py:968-972", "M25"},
    Rule{"MEGATRON-VPP-ONE-WAY", "Chunks are stated in one way",
         "at most one of num_layers_per_virtual_pipeline_stage, "
         "num_virtual_stages_per_pipeline_rank and pipeline_model_parallel_layout",
         "Each of them decides the number of chunks.", "Keep one of them.", kMegatronOwner,
         "Megatron arguments.py:927", "M23"},
};

}  // namespace

std::span<const Rule> megatron_setting_rules() {
  return kMegatronSettingRules;
}

}  // namespace sextant::describe
