// Jobs that break a rule of Megatron's.
#include "broken_jobs.h"

namespace sextant::tests {

std::vector<BrokenJob> megatron_jobs() {
  using describe::Job;
  using describe::Mamba2;
  return {
      {"MEGATRON-BATCH-MICRO", megatron, "",
       [](Job& j) {
         j.layout.pp = 1;
         j.layout.mbs = 3;
       }},
      {"MEGATRON-CP-HIERARCHY", megatron, "",
       [](Job& j) {
         j.layout.cp = 4;
         j.layout.cp_method = describe::CpMethod::kAllToAllP2p;
         j.layout.cp_inner = 8;
       }},
      {"MEGATRON-CP-HIERARCHY", megatron, "cp_comm_type=a2a+p2p",
       [](Job& j) {
         j.layout.cp = 4;
         j.layout.cp_method = describe::CpMethod::kAllToAllP2p;
       }},
      {"MEGATRON-CP-HIERARCHY", megatron,
       "cp_comm_type=a2a+p2p hierarchical_context_parallel_sizes=2;4",
       [](Job& j) {
         j.layout.cp = 4;
         j.layout.cp_method = describe::CpMethod::kAllToAllP2p;
       }},
      {"MEGATRON-FP8-GATHER", megatron, "use_distributed_optimizer=false",
       [](Job& j) {
         j.layout.parameters = describe::Storage::kFp8;
         j.layout.zero = describe::Zero::kNone;
         j.layout.overlap = {};
       }},
      {"MEGATRON-FSDP", megatron, "",
       [](Job& j) {
         j.layout.zero = describe::Zero::kParameters;
         j.layout.optimizer.kind = describe::OptimizerKind::kMuon;
       }},
      {"MEGATRON-FSDP", megatron,
       "use_megatron_fsdp=true ckpt_format=torch_dist CUDA_DEVICE_MAX_CONNECTIONS=8"},
      {"MEGATRON-FSDP", megatron, "use_megatron_fsdp=true ckpt_format=fsdp_dtensor"},
      {"MEGATRON-GDN-HEADS", megatron, "",
       [](Job& j) {
         j.model.blocks[0].mixer = describe::GatedDeltaNet{.key_heads = 16, .value_heads = 32};
         j.layout.cp = 8;
         j.cluster.devices = 128;
       }},
      {"MEGATRON-MAMBA-GROUPS", megatron, "",
       [](Job& j) {
         j.model.blocks[0].mixer = Mamba2{.heads = 64, .head_dim = 64, .groups = 2, .state = 128};
       }},
      {"MEGATRON-MAMBA-GROUPS", megatron, "",
       [](Job& j) {
         j.model.blocks[0].mixer = Mamba2{.heads = 72, .head_dim = 64, .groups = 8, .state = 128};
         j.layout.precision = describe::Precision::kFp8;
       }},
      {"MEGATRON-MOE-TP-SP", experts, "", [](Job& j) { j.layout.tp = 2; }},
      {"MEGATRON-P2P-OVERLAP", megatron, "",
       [](Job& j) { j.layout.overlap = {describe::Overlap::kPipeline}; },
       describe::Severity::kRisk},
      {"MEGATRON-PARAM-GATHER", megatron, "",
       [](Job& j) { j.layout.overlap = {describe::Overlap::kParamGather}; }},
      {"MEGATRON-PARAM-GATHER", megatron, "",
       [](Job& j) { j.layout.zero = describe::Zero::kNone; }},
      {"MEGATRON-SEQ-CP", megatron, "",
       [](Job& j) {
         j.layout.cp = 4;
         j.layout.cp_method = describe::CpMethod::kAllToAll;
         j.layout.sp = false;
         j.sequences.length = 8196;
       }},
      {"MEGATRON-TP-OVERLAP-SP", megatron, "",
       [](Job& j) {
         j.layout.overlap = {describe::Overlap::kTensorParallel};
         j.layout.sp = false;
       }},
      {"MEGATRON-VPP-MICROBATCHES", interleaved, "", [](Job& j) { j.global_batch = 120; }},
      {"MEGATRON-VPP-MICROBATCHES", interleaved, "microbatch_group_size_per_vp_stage=3"},
      {"MEGATRON-VPP-MICROBATCHES", interleaved, "microbatch_group_size_per_vp_stage=5"},
      {"MEGATRON-VPP-PP", interleaved, "", [](Job& j) { j.layout.pp = 2; }},
  };
}

std::vector<BrokenJob> megatron_experts() {
  using describe::Job;
  return {
      {"MEGATRON-EP-OVERLAP", overlapped_experts, "",
       [](Job& j) { j.layout.dispatcher = describe::Dispatcher::kAllGather; }},
      {"MEGATRON-EP-OVERLAP", overlapped_experts, "",
       [](Job& j) { j.layout.recompute.granularity = describe::Recompute::kFull; }},
      {"MEGATRON-EP-OVERLAP", overlapped_experts, "",
       [](Job& j) {
         j.layout.recompute = {.granularity = describe::Recompute::kSelective,
                               .modules = {describe::RecomputeModule::kMoe}};
       }},
      {"MEGATRON-EP-OVERLAP", overlapped_experts, "", [](Job& j) { j.layout.ep = 1; }},
      {"MEGATRON-EP-OVERLAP", overlapped_experts, "", [](Job& j) { j.model.mtp_layers = 2; }},
      {"MEGATRON-EP-OVERLAP", overlapped_experts, "moe_shared_expert_overlap=true"},
      {"MEGATRON-EP-OVERLAP-VPP", experts, "",
       [](Job& j) { j.layout.overlap = {describe::Overlap::kExpert}; }},
      {"MEGATRON-EXPERT-BIAS-ETP", experts, "",
       [](Job& j) {
         j.layout.etp = 2;
         j.layout.ep = 4;
         std::get<describe::MoeFfn>(j.model.blocks.back().ffn).expert_bias = true;
       }},
      {"MEGATRON-EXPERT-DP-ORDER", experts, "",
       [](Job& j) { std::swap(j.layout.order[3], j.layout.order[4]); }},
  };
}

std::vector<BrokenJob> megatron_settings() {
  using describe::Job;
  const auto cp2 = [](Job& j) { j.layout.cp = 2; };
  const auto full = [](Job& j) { j.layout.recompute.granularity = describe::Recompute::kFull; };
  const auto alone = [](Job& j) { j.layout.pp = 1; };
  const auto risk = describe::Severity::kRisk;
  return {
      {"MEGATRON-BATCH-SCHEDULE", megatron, "global_batch_size=128 step_batch_size_schedule=0:768"},
      {"MEGATRON-CAPACITY", experts, "moe_pad_expert_input_to_capacity=true"},
      {"MEGATRON-CAPACITY", experts,
       "moe_expert_capacity_factor=1.0 moe_router_load_balancing_type=sinkhorn"},
      {"MEGATRON-CONNECTIONS", megatron, "CUDA_DEVICE_MAX_CONNECTIONS=8"},
      {"MEGATRON-CONNECTIONS", bridge, "CUDA_DEVICE_MAX_CONNECTIONS=32", nullptr, risk},
      {"MEGATRON-CP-COMM-LIST", megatron, "cp_comm_type=p2p;a2a;p2p", cp2},
      {"MEGATRON-CPU-OFFLOAD", megatron, "cpu_offloading_num_layers=4"},
      {"MEGATRON-DELAY-WGRAD", experts, "delay_wgrad_compute=true"},
      {"MEGATRON-DISTRIBUTE-SAVED", megatron, "distribute_saved_activations=true"},
      {"MEGATRON-EVAL-BATCH", megatron, "eval_global_batch_size=126"},
      {"MEGATRON-FIRST-LAST", megatron, "decoder_first_pipeline_num_layers=19"},
      {"MEGATRON-FIRST-LAST", interleaved,
       "decoder_first_pipeline_num_layers=18 decoder_last_pipeline_num_layers=22"},
      {"MEGATRON-FIRST-LAST", megatron,
       "decoder_first_pipeline_num_layers=20 account_for_loss_in_pipeline_split=true"},
      {"MEGATRON-FP16-BF16", megatron, "fp16=true"},
      {"MEGATRON-FP4-FP8", megatron, "fp4_format=e2m1 fp8_format=hybrid"},
      {"MEGATRON-FP4-FP8", megatron, "fp4_param_gather=true"},
      {"MEGATRON-FP8-GATHER", megatron, "fp8_param_gather=true use_distributed_optimizer=false"},
      {"MEGATRON-GATHER-WITH-STEP", megatron,
       "overlap_param_gather_with_optimizer_step=true ckpt_format=torch"},
      {"MEGATRON-GATHER-WITH-STEP", interleaved, "overlap_param_gather_with_optimizer_step=true"},
      {"MEGATRON-GRAPH-RECOMPUTE", megatron, "cuda_graph_impl=local", full},
      {"MEGATRON-GTP", megatron, "tensor_parallel_num_weight_shards=6"},
      {"MEGATRON-GTP", megatron,
       "tensor_parallel_num_weight_shards=8 ddp_average_in_collective=true"},
      {"MEGATRON-GTP", megatron,
       "tensor_parallel_num_weight_shards=8 fp8_format=e4m3 fp8_recipe=mxfp8"},
      {"MEGATRON-HEAD-WIDTH", megatron, "hidden_size=5120 num_attention_heads=96"},
      {"MEGATRON-HYBRID-PATTERN", megatron, "hybrid_layer_pattern=M-|M*-|M-/MM"},
      {"MEGATRON-HYPER", megatron, "enable_mhc_connections=true"},
      {"MEGATRON-LAYOUT-STRING", megatron, "pipeline_model_parallel_layout=Et*40|t*40L"},
      {"MEGATRON-LAYOUT-STRING", megatron, "pipeline_model_parallel_layout=E(t*20|)*3t*19L"},
      {"MEGATRON-LAYOUT-STRING", megatron, "pipeline_model_parallel_layout=(t*20|)*3t*20L"},
      {"MEGATRON-LAYOUT-STRING", megatron, "pipeline_model_parallel_layout=E(t*20|)*3t*20mL"},
      {"MEGATRON-LAYOUT-STRING", megatron,
       "pipeline_model_parallel_layout=Emt*20|(t*20|)*2t*20L mtp_num_layers=1"},
      {"MEGATRON-LAYOUT-STRING", megatron, "pipeline_model_parallel_layout=E(t*99999999|)*99999L"},
      {"MEGATRON-MLA-GQA", experts, "multi_latent_attention=true group_query_attention=true"},
      {"MEGATRON-OPTIMIZER-INSTANCES", megatron, "num_distributed_optimizer_instances=3"},
      {"MEGATRON-OPTIMIZER-OFFLOAD", megatron, "optimizer_cpu_offload=true"},
      {"MEGATRON-OPTIMIZER-OFFLOAD", bridge,
       "optimizer.optimizer_cpu_offload=true optimizer.use_precision_aware_optimizer=false"},
      {"MEGATRON-POSITIONS", megatron, "max_position_embeddings=4096"},
      {"MEGATRON-RECOMPUTE-ARGS", megatron, "recompute_granularity=full", full},
      {"MEGATRON-RECOMPUTE-ARGS", megatron, "recompute_granularity=full recompute_method=uniform",
       full},
      {"MEGATRON-RECOMPUTE-ARGS", bridge,
       "model.recompute_granularity=selective model.recompute_num_layers=1"},
      {"MEGATRON-RECOMPUTE-MODULES", experts,
       "recompute_granularity=selective recompute_modules=moe_act"},
      {"MEGATRON-RECOMPUTE-MODULES", experts,
       "recompute_granularity=selective recompute_modules=shared_experts "
       "moe_shared_expert_overlap=true"},
      {"MEGATRON-RECOMPUTE-MODULES", megatron,
       "recompute_granularity=selective recompute_modules=layernorm fp8_format=hybrid"},
      {"MEGATRON-REMOVED-FLAG", megatron, "model_parallel_size=4"},
      {"MEGATRON-SHARED-OVERLAP", experts,
       "moe_shared_expert_overlap=true moe_token_dispatcher_type=allgather"},
      {"MEGATRON-TE-LOSS", megatron, "cross_entropy_fusion_impl=te"},
      {"MEGATRON-TORCH-FSDP", megatron,
       "use_torch_fsdp2=true use_distributed_optimizer=false no_gradient_accumulation_fusion=true "
       "CUDA_DEVICE_MAX_CONNECTIONS=8"},
      {"MEGATRON-TORCH-FSDP", megatron,
       "use_torch_fsdp2=true use_distributed_optimizer=false CUDA_DEVICE_MAX_CONNECTIONS=8", alone},
      {"MEGATRON-TORCH-FSDP", megatron,
       "use_torch_fsdp2=true use_distributed_optimizer=false no_gradient_accumulation_fusion=true",
       alone},
      {"MEGATRON-VIRTUAL-LAYERS", interleaved, "num_layers_per_virtual_pipeline_stage=3"},
      {"MEGATRON-VPP-ONE-WAY", interleaved,
       "num_layers_per_virtual_pipeline_stage=4 num_virtual_stages_per_pipeline_rank=5"},
  };
}

}  // namespace sextant::tests
