// Jobs that break a rule of torchtitan, DeepSpeed, MaxText, Accelerate or nanotron.
#include "broken_jobs.h"

namespace sextant::tests {

std::vector<BrokenJob> torchtitan_jobs() {
  using describe::Job;
  const auto risk = describe::Severity::kRisk;
  const auto cp2 = [](Job& j) { j.layout.cp = 2; };
  const auto nothing = [](Job&) {};
  return {
      {"TORCHTITAN-BATCH-MICRO", torchtitan, "",
       [](Job& j) {
         j.layout.pp = 1;
         j.layout.mbs = 3;
       }},
      {"TORCHTITAN-COMPILE", torchtitan, "",
       [](Job& j) { j.layout.overlap = {describe::Overlap::kTensorParallel}; }},
      {"TORCHTITAN-COMPILE", torchtitan, "activation_checkpoint.mode=memory_budget"},
      {"TORCHTITAN-COMPILE", torchtitan, "compile.enable_async_tensor_parallel=true"},
      {"TORCHTITAN-CONTEXT", torchtitan, "", [](Job& j) { j.sequences.length = 262144; }},
      {"TORCHTITAN-CP-FLEX", torchtitan, "parallelism.spmd_backend=partial_dtensor", cp2},
      {"TORCHTITAN-CP-FLEX", torchtitan, "", cp2, risk},
      {"TORCHTITAN-EP-SHARD", torchtitan_experts, "", [](Job& j) { j.layout.zero_group = 4; }},
      {"TORCHTITAN-FEW-MICROBATCHES", torchtitan, "",
       [](Job& j) {
         j.layout.pp = 8;
         j.global_batch = 8;
       }},
      {"TORCHTITAN-FEW-MICROBATCHES", torchtitan, "",
       [](Job& j) {
         j.layout.pp = 4;
         j.layout.vpp = 4;
         j.layout.schedule = describe::Schedule::kInterleaved1f1b;
         j.global_batch = 32;
       },
       risk},
      {"TORCHTITAN-GRAPHS", torchtitan, "",
       [](Job& j) { j.layout.launch = describe::Launch::kCudaGraph; }},
      {"TORCHTITAN-GRAPHS", torchtitan, "training.disable_cuda_graphs=false", nothing},
      {"TORCHTITAN-GRAPHS", torchtitan_experts, "training.disable_cuda_graphs=false", nothing,
       risk},
      {"TORCHTITAN-KV-HEADS-TP", torchtitan, "", [](Job& j) { j.layout.tp = 16; }},
      {"TORCHTITAN-NO-ETP", torchtitan_experts, "",
       [](Job& j) {
         j.layout.etp = 2;
         j.layout.ep = 4;
       }},
      {"TORCHTITAN-STAGES", torchtitan, "parallelism.pipeline_parallel_layers_per_stage=8"},
      {"TORCHTITAN-STAGES", torchtitan,
       "parallelism.pipeline_parallel_layers_per_stage=17 "
       "parallelism.pipeline_parallel_schedule=Interleaved1F1B"},
      {"TORCHTITAN-TIED-PP", torchtitan, "", [](Job& j) { j.model.tied_head = true; }},
      {"TORCHTITAN-TOKENS", torchtitan, "parallelism.spmd_backend=spmd_types",
       [](Job& j) {
         j.layout.cp = 2;
         j.sequences.length = 8200;
       }},
  };
}

std::vector<BrokenJob> other_jobs() {
  using describe::Job;
  const auto risk = describe::Severity::kRisk;
  const auto no_pipeline = [](Job& j) {
    j.layout.pp = 1;
    j.layout.mbs = 3;
  };
  return {
      {"DEEPSPEED-BATCH", deepspeed, "gradient_accumulation_steps=3"},
      {"DEEPSPEED-BATCH", deepspeed, "",
       [](Job& j) {
         j.global_batch = 192;
         j.layout.mbs = 2;
       }},
      {"DEEPSPEED-FP16-BF16", deepspeed, "fp16.enabled=true"},
      {"DEEPSPEED-NO-ETP", deepspeed, "",
       [](Job& j) {
         j.model.blocks[0].ffn = describe::MoeFfn{.experts = 64, .topk = 4, .width = 1024};
         j.layout.etp = 2;
       }},
      {"DEEPSPEED-ZERO-PP", deepspeed, "train_batch_size=auto", [](Job& j) { j.layout.pp = 2; }},
      {"MAXTEXT-DCN-TENSOR", maxtext, "dcn_tensor_parallelism=2", nullptr, risk},
      {"MAXTEXT-DELAYED", maxtext,
       "num_pipeline_microbatches=4 pipeline_delay_activation_forwarding=true"},
      {"MAXTEXT-LAYERS", maxtext, "",
       [](Job& j) { j.layout.split.layers_per_stage = {7, 9, 8, 8}; }},
      {"MAXTEXT-LAYERS", maxtext, "",
       [](Job& j) {
         j.layout.split.count_embedding = true;
         j.layout.split.count_loss = true;
         j.model.layers.resize(30);
       }},
      {"MAXTEXT-LAYERS", maxtext, "num_layers_per_pipeline_stage=3"},
      {"MAXTEXT-LAYERS", maxtext, "num_layers_per_pipeline_stage=2 num_pipeline_repeats=3"},
      {"MAXTEXT-MESH", maxtext, "ici_tensor_parallelism=5"},
      {"MAXTEXT-MESH", maxtext, "ici_data_parallelism=-1"},
      {"MAXTEXT-MICROBATCHES", maxtext, "", [](Job& j) { j.global_batch = 96; }},
      {"MAXTEXT-MICROBATCHES", maxtext, "num_pipeline_microbatches=6"},
      {"ACCELERATE-CP-SP", accelerate,
       "parallelism_config.parallelism_config_cp_size=2 "
       "parallelism_config.parallelism_config_sp_size=2 "
       "parallelism_config.parallelism_config_dp_shard_size=8"},
      {"ACCELERATE-CP-SP", accelerate, "",
       [](Job& j) {
         j.layout.cp = 2;
         j.layout.cp_method = describe::CpMethod::kAllToAllP2p;
       }},
      {"ACCELERATE-DDP-TP", accelerate, "", [](Job& j) { j.layout.zero = describe::Zero::kNone; }},
      {"ACCELERATE-DDP-TP", accelerate,
       "parallelism_config.parallelism_config_dp_replicate_size=32 "
       "parallelism_config.parallelism_config_dp_shard_size=1"},
      {"ACCELERATE-FSDP2", accelerate, "fsdp_config.fsdp_version=1"},
      {"ACCELERATE-WORLD", accelerate, "num_processes=32"},
      {"NANOTRON-BATCH-MICRO", nanotron, "", no_pipeline},
      {"NANOTRON-KV-HEADS-TP", nanotron, "", [](Job& j) { j.layout.tp = 16; }},
      {"NANOTRON-SCHEDULE", nanotron, "",
       [](Job& j) {
         j.layout.schedule = describe::Schedule::kInterleaved1f1b;
         j.layout.vpp = 2;
       }},
      {"NANOTRON-SCHEDULE", nanotron, "parallelism.pp_engine=zbv"},
      {"NANOTRON-ZERO", nanotron, "", [](Job& j) { j.layout.zero = describe::Zero::kGradients; }},
      {"NANOTRON-ZERO", nanotron, "optimizer.zero_stage=3"},
  };
}

}  // namespace sextant::tests
