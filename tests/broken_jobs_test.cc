// Deliberately broken jobs: each is a small change of a legal one and breaks exactly one rule.
// Every rule of the book is broken by some job here.
#include <algorithm>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "base/text.h"
#include "describe/cluster/load_cluster.h"
#include "describe/layout/framework_rules.h"
#include "describe/model/load_model.h"
#include "emit/setting_rules.h"

namespace sextant {
namespace {

using namespace describe;  // NOLINT(google-build-using-namespace): the test speaks its words only
using emit::Dialect;
using emit::Settings;

struct Written {
  Job job;
  Settings settings;
};

// "key=value other=a;b": values are separated by ';', an earlier value of the key is replaced.
void set(Settings& settings, std::string_view text) {
  for (const std::string_view part : split(text, ' ')) {
    const std::size_t equals = part.find('=');
    const std::string key(part.substr(0, equals));
    std::vector<std::string> values;
    for (const std::string_view value : split(part.substr(equals + 1), ';')) {
      values.emplace_back(value);
    }
    auto& list = key == "CUDA_DEVICE_MAX_CONNECTIONS" ? settings.environment : settings.given;
    std::erase_if(list, [&](const emit::Setting& old) { return old.key == key; });
    list.push_back({key, values, {}});
  }
}

Written made(const char* model, const char* cluster, Framework framework, Dialect dialect) {
  static const DataStore kData;
  Written made;
  made.job.model = *load_model(model, kData);
  made.job.cluster = *load_cluster(cluster, kData);
  made.job.framework = framework;
  made.job.sequences.length = 8192;
  made.job.global_batch = 128;
  made.settings.dialect = dialect;
  return made;
}

// Llama-3.1-70B on 64 H100, dp=4 and 32 microbatches.
Written megatron() {
  Written w = made("llama-3.1-70b", "64xh100-sxm", Framework::kMegatronCore, Dialect::kMegatron);
  w.job.layout.tp = 4;
  w.job.layout.pp = 4;
  w.job.layout.sp = true;
  w.job.layout.zero = Zero::kOptimizer;
  w.job.layout.overlap = {Overlap::kGradReduce, Overlap::kParamGather};
  set(w.settings, "CUDA_DEVICE_MAX_CONNECTIONS=1 use_distributed_optimizer=true bf16=true");
  return w;
}

Written bridge() {
  Written w = megatron();
  w.settings.dialect = Dialect::kBridge;
  w.settings.given.clear();
  set(w.settings, "model.tensor_model_parallel_size=4 model.sequence_parallel=true");
  return w;
}

// Interleaved: 5 chunks of 4 layers.
Written interleaved() {
  Written w = megatron();
  w.job.layout.vpp = 5;
  w.job.layout.schedule = Schedule::kInterleaved1f1b;
  return w;
}

// DeepSeek-V3 on 256 H100: 61 layers, expert groups inside a node.
Written experts() {
  Written w = made("deepseek-v3", "256xh100-sxm", Framework::kMegatronCore, Dialect::kMegatron);
  w.job.layout.pp = 8;
  w.job.layout.ep = 8;
  w.job.layout.split.layers_per_stage = {7, 8, 8, 8, 8, 8, 8, 6};
  w.job.layout.zero = Zero::kOptimizer;
  set(w.settings, "CUDA_DEVICE_MAX_CONNECTIONS=1 moe_token_dispatcher_type=alltoall");
  return w;
}

// The same without a pipeline, its exchange overlapped.
Written overlapped_experts() {
  Written w = experts();
  w.job.layout.pp = 1;
  w.job.layout.split = {};
  w.job.global_batch = 256;
  w.job.layout.overlap = {Overlap::kExpert};
  return w;
}

Written torchtitan() {
  Written w = made("llama-3.1-8b", "64xh100-sxm", Framework::kTorchtitan, Dialect::kTorchtitan);
  w.job.layout.tp = 4;
  w.job.layout.sp = true;
  w.job.layout.pp = 2;
  w.job.layout.zero = Zero::kParameters;
  set(w.settings, "training.disable_cuda_graphs=true");
  return w;
}

// One replica a rank, 64 experts in every layer.
Written torchtitan_experts() {
  Written w = torchtitan();
  w.job.model.blocks[0].ffn = MoeFfn{.experts = 64, .topk = 4, .width = 1024};
  w.job.layout.tp = 1;
  w.job.layout.sp = false;
  w.job.layout.pp = 1;
  w.job.layout.ep = 8;
  return w;
}

Written deepspeed() {
  Written w = made("llama-3.1-8b", "64xh100-sxm", Framework::kDeepspeed, Dialect::kDeepspeed);
  w.job.layout.zero = Zero::kParameters;
  set(w.settings,
      "train_batch_size=128 train_micro_batch_size_per_gpu=1 gradient_accumulation_steps=2 "
      "bf16.enabled=true");
  return w;
}

Written maxtext() {
  Written w = made("llama-3.1-8b", "64xh100-sxm", Framework::kMaxtext, Dialect::kMaxtext);
  w.job.layout.pp = 4;
  w.job.layout.zero = Zero::kParameters;
  set(w.settings, "ici_pipeline_parallelism=4 ici_fsdp_parallelism=-1");
  return w;
}

Written accelerate() {
  Written w = made("llama-3.1-8b", "64xh100-sxm", Framework::kAccelerate, Dialect::kAccelerate);
  w.job.layout.tp = 2;
  w.job.layout.zero = Zero::kParameters;
  set(w.settings,
      "distributed_type=FSDP fsdp_config.fsdp_version=2 num_processes=64 "
      "parallelism_config.parallelism_config_tp_size=2 "
      "parallelism_config.parallelism_config_dp_shard_size=32");
  return w;
}

Written nanotron() {
  Written w = made("llama-3.1-8b", "64xh100-sxm", Framework::kNanotron, Dialect::kNanotron);
  w.job.layout.tp = 4;
  w.job.layout.sp = true;
  w.job.layout.pp = 2;
  w.job.layout.zero = Zero::kOptimizer;
  set(w.settings, "parallelism.pp_engine=1f1b optimizer.zero_stage=1");
  return w;
}

using Base = Written (*)();

std::set<std::string> broken(const Written& w) {
  std::set<std::string> ids;
  for (const auto& list : {check_rules(w.job), check_framework_rules(w.job),
                           emit::check_settings(w.settings, w.job)}) {
    for (const Violation& violation : list) {
      ids.emplace(violation.rule);
      EXPECT_FALSE(violation.message.empty()) << violation.rule;
    }
  }
  return ids;
}

TEST(BrokenJobs, TheBasesAreLegal) {
  for (const Base base : {megatron, bridge, interleaved, experts, overlapped_experts, torchtitan,
                          torchtitan_experts, deepspeed, maxtext, accelerate, nanotron}) {
    const Written w = base();
    EXPECT_EQ(broken(w), std::set<std::string>{})
        << word_of<Dialect>(emit::kDialectWords, w.settings.dialect);
    EXPECT_TRUE(framework_allows(w.job));
    EXPECT_TRUE(emit::check_all(w.settings, w.job).empty());
  }
}

struct BrokenJob {
  const char* rule;
  Base base;
  const char* settings = "";
  std::function<void(Job&)> change = nullptr;
  Severity severity = Severity::kIllegal;
};

std::vector<BrokenJob> core_jobs() {
  return {
      {"WORLD-PRODUCT", megatron, "", [](Job& j) { j.layout.dp = 2; }},
      {"WORLD-PRODUCT", torchtitan, "", [](Job& j) { j.cluster.devices = 60; }},
      {"BATCH-DP", megatron, "", [](Job& j) { j.global_batch = 130; }},
      {"BATCH-MICRO", megatron, "", [](Job& j) { j.layout.mbs = 3; }},
      {"HEADS-TP", megatron, "",
       [](Job& j) {
         j.layout.tp = 128;
         j.layout.pp = 1;
         j.cluster.devices = 128;
       }},
      {"KV-HEADS-TP", megatron, "",
       [](Job& j) { std::get<Attention>(j.model.blocks[0].mixer).kv_heads = 6; }},
      {"KV-HEADS-TP", torchtitan, "",
       [](Job& j) { std::get<Attention>(j.model.blocks[0].mixer).kv_heads = 6; }},
      {"FFN-TP", megatron, "",
       [](Job& j) { std::get<DenseFfn>(j.model.blocks[0].ffn).width = 28674; }},
      {"LAYERS-STAGES", megatron, "", [](Job& j) { j.model.layers.resize(78); }},
      {"LAYERS-STAGES", maxtext, "",
       [](Job& j) { j.layout.split.layers_per_stage = {8, 8, 8, 9}; }},
      {"SCHEDULE-VPP", megatron, "", [](Job& j) { j.layout.vpp = 5; }},
      {"SEQ-CP", megatron, "",
       [](Job& j) {
         j.layout.cp = 4;
         j.sequences.length = 8188;
         j.layout.sp = false;
       }},
      {"SEQ-SP", megatron, "", [](Job& j) { j.sequences.length = 8190; }},
      {"SP-TP", megatron, "", [](Job& j) { j.layout.tp = 1; }, Severity::kRisk},
      {"SP-TP", torchtitan, "", [](Job& j) { j.layout.tp = 1; }},
      {"SEQ-POSITIONS", megatron, "", [](Job& j) { j.model.learned_positions = 2048; }},
      {"HEADS-CP", megatron, "",
       [](Job& j) {
         j.layout.cp = 32;
         j.layout.cp_method = CpMethod::kAllToAll;
         j.cluster.devices = 512;
       }},
      {"EXPERTS-EP", megatron, "", [](Job& j) { j.layout.ep = 2; }},
      {"EXPERTS-EP", experts, "",
       [](Job& j) {
         j.layout.ep = 6;
         j.cluster.devices = 192;
         j.global_batch = 192;
       }},
      {"EXPERT-WORLD", experts, "",
       [](Job& j) {
         j.cluster.devices = 96;
         j.global_batch = 96;
       }},
      {"EXPERT-FFN-ETP", experts, "",
       [](Job& j) {
         j.layout.etp = 3;
         j.layout.ep = 1;
         j.cluster.devices = 192;
         j.global_batch = 192;
       }},
      {"ROUTER-GROUPS", experts, "",
       [](Job& j) { std::get<MoeFfn>(j.model.blocks.back().ffn).topk = 300; }},
      {"PRECISION-DEVICE", megatron, "",
       [](Job& j) {
         j.cluster.device.peaks = {};
         j.layout.precision = Precision::kFp8;
       }},
      {"RECOMPUTE-MODULE", megatron, "",
       [](Job& j) {
         j.layout.recompute = {.granularity = Recompute::kSelective,
                               .modules = {RecomputeModule::kMlaUpProjection}};
       }},
      {"ZERO-GROUP", megatron, "", [](Job& j) { j.layout.zero_group = 3; }},
      {"VOCAB-TP", megatron, "", [](Job& j) { j.model.vocab = 2; }},
      {"EP-DOMAIN", experts, "", [](Job& j) { j.layout.ep = 32; }, Severity::kNote},
      {"EP-DOMAIN", torchtitan_experts, "", [](Job& j) { j.layout.ep = 16; }, Severity::kNote},
  };
}

std::vector<BrokenJob> megatron_jobs() {
  return {
      {"MEGATRON-BATCH-MICRO", megatron, "",
       [](Job& j) {
         j.layout.pp = 1;
         j.layout.mbs = 3;
       }},
      {"MEGATRON-CP-HIERARCHY", megatron, "",
       [](Job& j) {
         j.layout.cp = 4;
         j.layout.cp_method = CpMethod::kAllToAllP2p;
         j.layout.cp_inner = 8;
       }},
      {"MEGATRON-CP-HIERARCHY", megatron, "cp_comm_type=a2a+p2p",
       [](Job& j) {
         j.layout.cp = 4;
         j.layout.cp_method = CpMethod::kAllToAllP2p;
       }},
      {"MEGATRON-CP-HIERARCHY", megatron,
       "cp_comm_type=a2a+p2p hierarchical_context_parallel_sizes=2;4",
       [](Job& j) {
         j.layout.cp = 4;
         j.layout.cp_method = CpMethod::kAllToAllP2p;
       }},
      {"MEGATRON-EP-OVERLAP", overlapped_experts, "",
       [](Job& j) { j.layout.dispatcher = Dispatcher::kAllGather; }},
      {"MEGATRON-EP-OVERLAP", overlapped_experts, "",
       [](Job& j) { j.layout.recompute.granularity = Recompute::kFull; }},
      {"MEGATRON-EP-OVERLAP", overlapped_experts, "",
       [](Job& j) {
         j.layout.recompute = {.granularity = Recompute::kSelective,
                               .modules = {RecomputeModule::kMoe}};
       }},
      {"MEGATRON-EP-OVERLAP", overlapped_experts, "", [](Job& j) { j.layout.ep = 1; }},
      {"MEGATRON-EP-OVERLAP", overlapped_experts, "", [](Job& j) { j.model.mtp_layers = 2; }},
      {"MEGATRON-EP-OVERLAP", overlapped_experts, "moe_shared_expert_overlap=true"},
      {"MEGATRON-EP-OVERLAP-VPP", experts, "",
       [](Job& j) { j.layout.overlap = {Overlap::kExpert}; }},
      {"MEGATRON-EXPERT-BIAS-ETP", experts, "",
       [](Job& j) {
         j.layout.etp = 2;
         j.layout.ep = 4;
         std::get<MoeFfn>(j.model.blocks.back().ffn).expert_bias = true;
       }},
      {"MEGATRON-EXPERT-DP-ORDER", experts, "",
       [](Job& j) { std::swap(j.layout.order[3], j.layout.order[4]); }},
      {"MEGATRON-FP8-GATHER", megatron, "use_distributed_optimizer=false",
       [](Job& j) {
         j.layout.parameters = Storage::kFp8;
         j.layout.zero = Zero::kNone;
         j.layout.overlap = {};
       }},
      {"MEGATRON-FSDP", megatron, "",
       [](Job& j) {
         j.layout.zero = Zero::kParameters;
         j.layout.optimizer.kind = OptimizerKind::kMuon;
       }},
      {"MEGATRON-FSDP", megatron,
       "use_megatron_fsdp=true ckpt_format=torch_dist CUDA_DEVICE_MAX_CONNECTIONS=8"},
      {"MEGATRON-FSDP", megatron, "use_megatron_fsdp=true ckpt_format=fsdp_dtensor"},
      {"MEGATRON-GDN-HEADS", megatron, "",
       [](Job& j) {
         j.model.blocks[0].mixer = GatedDeltaNet{.key_heads = 16, .value_heads = 32};
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
         j.layout.precision = Precision::kFp8;
       }},
      {"MEGATRON-MOE-TP-SP", experts, "", [](Job& j) { j.layout.tp = 2; }},
      {"MEGATRON-P2P-OVERLAP", megatron, "",
       [](Job& j) { j.layout.overlap = {Overlap::kPipeline}; }, Severity::kRisk},
      {"MEGATRON-PARAM-GATHER", megatron, "",
       [](Job& j) { j.layout.overlap = {Overlap::kParamGather}; }},
      {"MEGATRON-PARAM-GATHER", megatron, "", [](Job& j) { j.layout.zero = Zero::kNone; }},
      {"MEGATRON-SEQ-CP", megatron, "",
       [](Job& j) {
         j.layout.cp = 4;
         j.layout.cp_method = CpMethod::kAllToAll;
         j.layout.sp = false;
         j.sequences.length = 8196;
       }},
      {"MEGATRON-TP-OVERLAP-SP", megatron, "",
       [](Job& j) {
         j.layout.overlap = {Overlap::kTensorParallel};
         j.layout.sp = false;
       }},
      {"MEGATRON-VPP-MICROBATCHES", interleaved, "", [](Job& j) { j.global_batch = 120; }},
      {"MEGATRON-VPP-MICROBATCHES", interleaved, "microbatch_group_size_per_vp_stage=3"},
      {"MEGATRON-VPP-MICROBATCHES", interleaved, "microbatch_group_size_per_vp_stage=5"},
      {"MEGATRON-VPP-PP", interleaved, "", [](Job& j) { j.layout.pp = 2; }},
  };
}

std::vector<BrokenJob> megatron_settings() {
  const auto cp2 = [](Job& j) { j.layout.cp = 2; };
  const auto full = [](Job& j) { j.layout.recompute.granularity = Recompute::kFull; };
  const auto alone = [](Job& j) { j.layout.pp = 1; };
  const auto risk = Severity::kRisk;
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

std::vector<BrokenJob> torchtitan_jobs() {
  const auto risk = Severity::kRisk;
  const auto cp2 = [](Job& j) { j.layout.cp = 2; };
  const auto nothing = [](Job&) {};
  return {
      {"TORCHTITAN-BATCH-MICRO", torchtitan, "",
       [](Job& j) {
         j.layout.pp = 1;
         j.layout.mbs = 3;
       }},
      {"TORCHTITAN-COMPILE", torchtitan, "",
       [](Job& j) { j.layout.overlap = {Overlap::kTensorParallel}; }},
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
         j.layout.schedule = Schedule::kInterleaved1f1b;
         j.global_batch = 32;
       },
       risk},
      {"TORCHTITAN-GRAPHS", torchtitan, "", [](Job& j) { j.layout.launch = Launch::kCudaGraph; }},
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
  const auto risk = Severity::kRisk;
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
         j.model.blocks[0].ffn = MoeFfn{.experts = 64, .topk = 4, .width = 1024};
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
         j.layout.cp_method = CpMethod::kAllToAllP2p;
       }},
      {"ACCELERATE-DDP-TP", accelerate, "", [](Job& j) { j.layout.zero = Zero::kNone; }},
      {"ACCELERATE-DDP-TP", accelerate,
       "parallelism_config.parallelism_config_dp_replicate_size=32 "
       "parallelism_config.parallelism_config_dp_shard_size=1"},
      {"ACCELERATE-FSDP2", accelerate, "fsdp_config.fsdp_version=1"},
      {"ACCELERATE-WORLD", accelerate, "num_processes=32"},
      {"NANOTRON-BATCH-MICRO", nanotron, "", no_pipeline},
      {"NANOTRON-KV-HEADS-TP", nanotron, "", [](Job& j) { j.layout.tp = 16; }},
      {"NANOTRON-SCHEDULE", nanotron, "",
       [](Job& j) {
         j.layout.schedule = Schedule::kInterleaved1f1b;
         j.layout.vpp = 2;
       }},
      {"NANOTRON-SCHEDULE", nanotron, "parallelism.pp_engine=zbv"},
      {"NANOTRON-ZERO", nanotron, "", [](Job& j) { j.layout.zero = Zero::kGradients; }},
      {"NANOTRON-ZERO", nanotron, "optimizer.zero_stage=3"},
  };
}

std::vector<BrokenJob> broken_jobs() {
  std::vector<BrokenJob> all;
  for (const auto& part :
       {core_jobs(), megatron_jobs(), megatron_settings(), torchtitan_jobs(), other_jobs()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Written written(const BrokenJob& c) {
  Written w = c.base();
  if (c.change) {
    c.change(w.job);
  }
  if (*c.settings != '\0') {
    set(w.settings, c.settings);
  }
  return w;
}

TEST(BrokenJobs, EachBreaksExactlyItsRule) {
  for (const BrokenJob& c : broken_jobs()) {
    const Written w = written(c);
    EXPECT_EQ(broken(w), std::set<std::string>{c.rule}) << c.rule << " " << c.settings;
    const auto all = emit::check_all(w.settings, w.job);
    ASSERT_EQ(all.size(), 1U) << c.rule << " " << c.settings;
    EXPECT_EQ(all.front().severity, c.severity) << c.rule;
  }
}

// A key given twice cannot be written in the table above.
TEST(BrokenJobs, RepeatedKeysAreARiskAndDeepspeedRefusesThem) {
  Written flags = megatron();
  flags.settings.given.push_back({"micro_batch_size", {"1"}, {"train.sh", 3}});
  EXPECT_EQ(broken(flags), std::set<std::string>{});
  flags.settings.given.push_back({"micro_batch_size", {"1"}, {"train.sh", 9}});
  EXPECT_EQ(broken(flags), std::set<std::string>{}) << "the same twice changes nothing";
  flags.settings.given.push_back({"micro_batch_size", {"2"}, {"train.sh", 12}});
  EXPECT_EQ(broken(flags), std::set<std::string>{"SETTING-REPEATED"});
  Written tree = deepspeed();
  tree.settings.given.push_back(tree.settings.given.front());
  EXPECT_EQ(broken(tree), std::set<std::string>{"DEEPSPEED-DUPLICATE"});
}

TEST(BrokenJobs, EveryRuleOfTheBookIsBrokenBySomeJob) {
  // cost/memory applies and tests MEMORY-FIT; the repeated keys have a test of their own.
  std::set<std::string> tested{"MEMORY-FIT", "SETTING-REPEATED", "DEEPSPEED-DUPLICATE"};
  for (const BrokenJob& c : broken_jobs()) {
    tested.insert(c.rule);
  }
  for (const Rule& rule : rule_book()) {
    EXPECT_TRUE(tested.contains(std::string(rule.id))) << rule.id;
    tested.erase(std::string(rule.id));
  }
  EXPECT_TRUE(tested.empty()) << *tested.begin() << " is not in the book";
  EXPECT_GE(broken_jobs().size(), 60U);
}

TEST(BrokenJobs, TheFrameworkAllowsWhatIsNotIllegal) {
  for (const BrokenJob& c : broken_jobs()) {
    const Written w = written(c);
    const auto found = check_framework_rules(w.job);
    const bool illegal = std::any_of(found.begin(), found.end(), [](const Violation& violation) {
      return violation.severity == Severity::kIllegal;
    });
    EXPECT_EQ(framework_allows(w.job), !illegal) << c.rule;
  }
}

// A setting may lift what the layout alone would break.
TEST(BrokenJobs, AMicrobatchGroupOrASmallerBatchLiftsARule) {
  Written grouped = interleaved();
  grouped.job.global_batch = 120;  // 30 microbatches on pp=4
  EXPECT_EQ(emit::check_all(grouped.settings, grouped.job).size(), 1U);
  set(grouped.settings, "microbatch_group_size_per_vp_stage=6");
  EXPECT_TRUE(emit::check_all(grouped.settings, grouped.job).empty());
  Written rounded = megatron();
  rounded.job.layout.pp = 1;
  rounded.job.layout.mbs = 3;
  EXPECT_EQ(emit::check_all(rounded.settings, rounded.job).size(), 1U);
  set(rounded.settings, "decrease_batch_size_if_needed=true");
  EXPECT_TRUE(emit::check_all(rounded.settings, rounded.job).empty());
}

TEST(BrokenJobs, ARecipeIsGivenTheBenefitOfTheDoubt) {
  Written w = bridge();
  set(w.settings,
      "ddp.use_megatron_fsdp=true model.recompute_granularity=full model.recompute_modules=moe_act "
      "optimizer.optimizer_cpu_offload=true model.cross_entropy_fusion_impl=te");
  w.job.layout.recompute.granularity = Recompute::kFull;
  std::erase_if(w.settings.environment, [](const auto&) { return true; });
  EXPECT_EQ(broken(w), std::set<std::string>{});
}

}  // namespace
}  // namespace sextant
