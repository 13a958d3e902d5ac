#include "legal_jobs.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "describe/cluster/load_cluster.h"
#include "describe/model/load_model.h"

namespace sextant::tests {

using emit::Dialect;
using emit::Settings;

namespace {

Written made(const char* model, const char* cluster, describe::Framework framework,
             Dialect dialect) {
  static const describe::DataStore kData;
  Written made;
  made.job.model = *describe::load_model(model, kData);
  made.job.cluster = *describe::load_cluster(cluster, kData);
  made.job.framework = framework;
  made.job.sequences.length = 8192;
  made.job.global_batch = 128;
  made.settings.dialect = dialect;
  return made;
}

}  // namespace

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

Written megatron() {
  Written w =
      made("llama-3.1-70b", "64xh100-sxm", describe::Framework::kMegatronCore, Dialect::kMegatron);
  w.job.layout.tp = 4;
  w.job.layout.pp = 4;
  w.job.layout.sp = true;
  w.job.layout.zero = describe::Zero::kOptimizer;
  w.job.layout.overlap = {describe::Overlap::kGradReduce, describe::Overlap::kParamGather};
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

Written interleaved() {
  Written w = megatron();
  w.job.layout.vpp = 5;
  w.job.layout.schedule = describe::Schedule::kInterleaved1f1b;
  return w;
}

Written experts() {
  Written w =
      made("deepseek-v3", "256xh100-sxm", describe::Framework::kMegatronCore, Dialect::kMegatron);
  w.job.layout.pp = 8;
  w.job.layout.ep = 8;
  w.job.layout.split.layers_per_stage = {7, 8, 8, 8, 8, 8, 8, 6};
  w.job.layout.zero = describe::Zero::kOptimizer;
  set(w.settings, "CUDA_DEVICE_MAX_CONNECTIONS=1 moe_token_dispatcher_type=alltoall");
  return w;
}

Written overlapped_experts() {
  Written w = experts();
  w.job.layout.pp = 1;
  w.job.layout.split = {};
  w.job.global_batch = 256;
  w.job.layout.overlap = {describe::Overlap::kExpert};
  return w;
}

Written torchtitan() {
  Written w =
      made("llama-3.1-8b", "64xh100-sxm", describe::Framework::kTorchtitan, Dialect::kTorchtitan);
  w.job.layout.tp = 4;
  w.job.layout.sp = true;
  w.job.layout.pp = 2;
  w.job.layout.zero = describe::Zero::kParameters;
  set(w.settings, "training.disable_cuda_graphs=true");
  return w;
}

Written torchtitan_experts() {
  Written w = torchtitan();
  w.job.model.blocks[0].ffn = describe::MoeFfn{.experts = 64, .topk = 4, .width = 1024};
  w.job.layout.tp = 1;
  w.job.layout.sp = false;
  w.job.layout.pp = 1;
  w.job.layout.ep = 8;
  return w;
}

Written deepspeed() {
  Written w =
      made("llama-3.1-8b", "64xh100-sxm", describe::Framework::kDeepspeed, Dialect::kDeepspeed);
  w.job.layout.zero = describe::Zero::kParameters;
  set(w.settings,
      "train_batch_size=128 train_micro_batch_size_per_gpu=1 gradient_accumulation_steps=2 "
      "bf16.enabled=true");
  return w;
}

Written maxtext() {
  Written w = made("llama-3.1-8b", "64xh100-sxm", describe::Framework::kMaxtext, Dialect::kMaxtext);
  w.job.layout.pp = 4;
  w.job.layout.zero = describe::Zero::kParameters;
  set(w.settings, "ici_pipeline_parallelism=4 ici_fsdp_parallelism=-1");
  return w;
}

Written accelerate() {
  Written w =
      made("llama-3.1-8b", "64xh100-sxm", describe::Framework::kAccelerate, Dialect::kAccelerate);
  w.job.layout.tp = 2;
  w.job.layout.zero = describe::Zero::kParameters;
  set(w.settings,
      "distributed_type=FSDP fsdp_config.fsdp_version=2 num_processes=64 "
      "parallelism_config.parallelism_config_tp_size=2 "
      "parallelism_config.parallelism_config_dp_shard_size=32");
  return w;
}

Written nanotron() {
  Written w =
      made("llama-3.1-8b", "64xh100-sxm", describe::Framework::kNanotron, Dialect::kNanotron);
  w.job.layout.tp = 4;
  w.job.layout.sp = true;
  w.job.layout.pp = 2;
  w.job.layout.zero = describe::Zero::kOptimizer;
  set(w.settings, "parallelism.pp_engine=1f1b optimizer.zero_stage=1");
  return w;
}

}  // namespace sextant::tests
