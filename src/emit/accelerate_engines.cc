#include "emit/accelerate_engines.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/integers.h"
#include "emit/torch_words.h"

namespace sextant::emit::accelerate {
namespace {

constexpr std::string_view kReplicateSize =
    "parallelism_config.parallelism_config_dp_replicate_size";
constexpr std::string_view kShardSize = "parallelism_config.parallelism_config_dp_shard_size";
constexpr std::string_view kTpSize = "parallelism_config.parallelism_config_tp_size";
constexpr std::string_view kCpSize = "parallelism_config.parallelism_config_cp_size";
constexpr std::string_view kCpStrategy = "parallelism_config.parallelism_config_cp_comm_strategy";
constexpr std::string_view kSpSize = "parallelism_config.parallelism_config_sp_size";
constexpr std::string_view kSpBackend = "parallelism_config.parallelism_config_sp_backend";
constexpr std::string_view kFsdpVersion = "fsdp_config.fsdp_version";
constexpr std::string_view kFsdpReshard = "fsdp_config.fsdp_reshard_after_forward";
constexpr std::string_view kFsdpStrategy = "fsdp_config.fsdp_sharding_strategy";
constexpr std::string_view kFsdpCheckpointing = "fsdp_config.fsdp_activation_checkpointing";
constexpr std::string_view kFsdpOffload = "fsdp_config.fsdp_offload_params";
constexpr std::string_view kFsdpPrefetch = "fsdp_config.fsdp_backward_prefetch";
constexpr std::string_view kZeroStage = "deepspeed_config.zero_stage";
constexpr std::string_view kOptimizerDevice = "deepspeed_config.offload_optimizer_device";
constexpr std::string_view kParameterDevice = "deepspeed_config.offload_param_device";
constexpr std::string_view kDeepspeedFile = "deepspeed_config.deepspeed_config_file";
constexpr std::string_view kMegatronTp = "megatron_lm_config.megatron_lm_tp_degree";
constexpr std::string_view kMegatronPp = "megatron_lm_config.megatron_lm_pp_degree";
constexpr std::string_view kMegatronSp = "megatron_lm_config.megatron_lm_sequence_parallelism";
constexpr std::string_view kMegatronMicrobatches =
    "megatron_lm_config.megatron_lm_num_micro_batches";
constexpr std::string_view kSelective = "megatron_lm_config.megatron_lm_recompute_activations";
constexpr std::string_view kDistributed =
    "megatron_lm_config.megatron_lm_use_distributed_optimizer";

// FSDP 1. Inside a node shards, across nodes replicas: HYBRID.
struct Strategy {
  std::string_view word;
  std::string_view number;
  bool shards = true;
  bool reshard = true;
  bool hybrid = false;
};
constexpr std::array kStrategies{
    Strategy{"FULL_SHARD", "1"}, Strategy{"SHARD_GRAD_OP", "2", true, false},
    Strategy{"NO_SHARD", "3", false}, Strategy{"HYBRID_SHARD", "4", true, true, true},
    Strategy{"HYBRID_SHARD_ZERO2", "5", true, false, true}};

std::int64_t quotient(const Reading& reading, std::int64_t model_ranks) {
  return reading.devices && *reading.devices % model_ranks == 0 ? *reading.devices / model_ranks
                                                                : 0;
}

// Parameters and their states live in fp32; autocast computes in another format.
void keep_fp32(describe::Layout& at) {
  at.parameters = describe::Storage::kFp32;
  at.gradients = describe::Storage::kFp32;
  at.optimizer.master = describe::Storage::kNone;
}

// Parameters are converted; an fp32 copy is kept.
void keep_converted(describe::Layout& at) {
  if (at.precision == describe::Precision::kFp32) {
    keep_fp32(at);
  } else {
    at.parameters = at.precision == describe::Precision::kFp16 ? describe::Storage::kFp16
                                                               : describe::Storage::kBf16;
  }
}

bool replicated(const describe::Layout& at) {
  return at.dp == 0 || saturating_product({at.dp, at.cp}) > 1;
}

void write_fsdp(const describe::Job& job, SettingWriter& out) {
  const describe::Layout& at = job.layout;
  const std::int64_t dp = std::max<std::int64_t>(1, job.dp());
  const std::int64_t groups = at.zero_group > 0 ? dp * at.cp / at.zero_group : 1;
  // A single replica group without shards is no mesh that Accelerate takes.
  const bool replicas = groups > 1 && dp % groups == 0 && dp / groups > 1;
  out.whole(kFsdpVersion, 2);
  out.flag(kFsdpReshard, at.reshard_after_forward || at.zero != describe::Zero::kParameters);
  out.text("fsdp_config.fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
  out.flag(kFsdpCheckpointing, at.recompute.granularity == describe::Recompute::kFull);
  out.flag(kFsdpOffload, at.optimizer.offload);
  out.flag("fsdp_config.fsdp_cpu_ram_efficient_loading", true);
  out.text("fsdp_config.fsdp_state_dict_type", "SHARDED_STATE_DICT");
  out.whole(kReplicateSize, replicas ? groups : 1);
  out.whole(kShardSize, replicas ? dp / groups : dp);
  out.whole(kTpSize, at.tp);
  const bool heads = at.cp > 1 && at.cp_method == describe::CpMethod::kAllToAll;
  out.whole(kCpSize, heads ? 1 : at.cp);
  if (heads) {
    out.whole(kSpSize, at.cp);
    out.text(kSpBackend, "deepspeed");
  } else if (at.cp > 1) {
    out.text(kCpStrategy,
             at.cp_method == describe::CpMethod::kAllGather ? "allgather" : "alltoall");
  }
}

void read_fsdp_context(SettingReader& reader, describe::Layout& at) {
  at.cp = reader.whole(kCpSize, 1, describe::kMostDevices).value_or(1);
  reader.fact("cp", std::to_string(at.cp), kCpSize);
  const std::int64_t heads = reader.whole(kSpSize, 1, describe::kMostDevices).value_or(1);
  if (heads > 1 && at.cp > 1) {
    reader.unresolved(kSpSize, "cp_size and sp_size exclude each other; read as cp alone");
  } else if (heads > 1) {
    at.cp = heads;
    at.cp_method = describe::CpMethod::kAllToAll;
    reader.fact("cp", std::to_string(heads), kSpSize);
    return;
  }
  const auto rotate = reader.word<describe::CpMethod>(kCpStrategy, kRotateWords)
                          .value_or(describe::CpMethod::kAllGather);
  if (at.cp > 1) {
    at.cp_method = rotate;
    reader.fact(
        "cp_method",
        std::string(describe::word_of<describe::CpMethod>(describe::kCpMethodWords, rotate)),
        kCpStrategy);
  }
}

// dp as replicas of shards; without sizes all devices are one shard group.
void read_fsdp_parallelism(SettingReader& reader, Reading& reading) {
  describe::Layout& at = reading.layout;
  at.tp = reader.whole(kTpSize, 1, describe::kMostDevices).value_or(1);
  reader.fact("tp", std::to_string(at.tp), kTpSize);
  read_fsdp_context(reader, at);
  const std::int64_t rest = quotient(reading, saturating_product({at.tp, at.cp}));
  const auto replicas = reader.whole(kReplicateSize, 1, describe::kMostDevices);
  const auto shard = reader.whole(kShardSize, 1, describe::kMostDevices);
  if (!replicas && !shard) {
    at.dp = rest;
    return;
  }
  at.dp = saturating_product({replicas.value_or(1), shard.value_or(1)});
  for (const std::string_view key : {kReplicateSize, kShardSize}) {
    reader.fact("dp", std::to_string(at.dp), key);
  }
  if (replicas.value_or(1) > 1) {
    at.zero_group = saturating_product({shard.value_or(1), at.cp});
    reader.fact("zero_group", std::to_string(at.zero_group), kShardSize);
  }
  if (reading.devices && rest != at.dp) {
    reader.unresolved(
        kShardSize,
        fmt::format("dp_replicate * dp_shard * cp * sp * tp is {}, the job has {} processes",
                    saturating_product({at.dp, at.cp, at.tp}), *reading.devices));
  }
  reading.devices =
      reading.devices ? reading.devices : std::optional(saturating_product({at.dp, at.cp, at.tp}));
}

void read_strategy(SettingReader& reader, Reading& reading) {
  describe::Layout& at = reading.layout;
  const auto word = reader.text(kFsdpStrategy);
  const auto* const row =
      std::find_if(kStrategies.begin(), kStrategies.end(),
                   [&](const Strategy& each) { return each.word == word || each.number == word; });
  if (!word) {
    return;
  }
  if (row == kStrategies.end()) {
    reader.unresolved(kFsdpStrategy, "not one of FSDP's strategies; read as FULL_SHARD");
    return;
  }
  at.zero = row->shards ? describe::Zero::kParameters : describe::Zero::kNone;
  at.reshard_after_forward = row->reshard;
  reader.fact("zero", row->shards ? "3" : "0", kFsdpStrategy);
  if (row->hybrid && reading.devices_per_node && at.dp > *reading.devices_per_node) {
    at.zero_group = *reading.devices_per_node;
    reader.fact("zero_group", std::to_string(at.zero_group), kFsdpStrategy);
  }
}

void read_fsdp(SettingReader& reader, Reading& reading) {
  describe::Layout& at = reading.layout;
  at.zero = describe::Zero::kParameters;
  keep_fp32(at);
  read_fsdp_parallelism(reader, reading);
  read_strategy(reader, reading);
  // In version 1 the same key holds the strategy.
  if (reader.whole(kFsdpVersion, 1, 2).value_or(1) == 2) {
    at.reshard_after_forward = reader.flag(kFsdpReshard).value_or(true);
    reader.fact("reshard", at.reshard_after_forward ? "1" : "0", kFsdpReshard);
  }
  if (const auto again = reader.flag(kFsdpCheckpointing)) {
    at.recompute.granularity = *again ? describe::Recompute::kFull : describe::Recompute::kNone;
    reader.fact("recompute", *again ? "full" : "none", kFsdpCheckpointing);
  }
  at.optimizer.offload = reader.flag(kFsdpOffload).value_or(false);
  reader.fact("optimizer", at.optimizer.offload ? "offload" : "on the device", kFsdpOffload);
  if (replicated(at)) {
    at.overlap = {describe::Overlap::kGradReduce};
    if (at.zero != describe::Zero::kNone &&
        reader.text(kFsdpPrefetch).value_or("") != "NO_PREFETCH") {
      at.overlap.push_back(describe::Overlap::kParamGather);
    }
  }
}

void read_ddp(Reading& reading) {
  describe::Layout& at = reading.layout;
  keep_fp32(at);
  at.dp = quotient(reading, 1);
  if (replicated(at)) {
    at.overlap = {describe::Overlap::kGradReduce};
  }
}

void write_deepspeed(const describe::Layout& at, SettingWriter& out) {
  out.whole(kZeroStage, static_cast<int>(at.zero));
  out.text(kOptimizerDevice, at.optimizer.offload ? "cpu" : "none");
  out.text(kParameterDevice, "none");
  out.text("deepspeed_config.gradient_accumulation_steps", "auto");
}

void read_deepspeed(SettingReader& reader, Reading& reading) {
  describe::Layout& at = reading.layout;
  keep_converted(at);
  at.dp = quotient(reading, 1);
  if (reader.text(kDeepspeedFile)) {
    reader.unresolved(kDeepspeedFile, "that file holds the settings; give it too");
  }
  // accelerate config's own answer.
  const std::int64_t stage = reader.whole(kZeroStage, 0, 3).value_or(2);
  at.zero = static_cast<describe::Zero>(stage);
  reader.fact("zero", std::to_string(stage), kZeroStage);
  const std::string device = reader.text(kOptimizerDevice).value_or("none");
  at.optimizer.offload = device == "cpu" || device == "nvme";
  reader.fact("optimizer", at.optimizer.offload ? "offload" : "on the device", kOptimizerDevice);
  if (reader.text(kParameterDevice).value_or("none") != "none") {
    reader.unresolved(kParameterDevice, "parameters in host memory have no description; left out");
  }
  // overlap_comm is on by default for stage 3 only.
  if (replicated(at) && at.zero == describe::Zero::kParameters) {
    at.overlap = {describe::Overlap::kGradReduce, describe::Overlap::kParamGather};
  }
}

void write_megatron(const describe::Job& job, SettingWriter& out) {
  const describe::Layout& at = job.layout;
  out.whole(kMegatronTp, at.tp);
  out.whole(kMegatronPp, at.pp);
  out.whole(kMegatronMicrobatches, std::max<std::int64_t>(1, job.microbatches()));
  out.flag(kMegatronSp, at.sp);
  out.flag(kSelective, at.recompute.granularity != describe::Recompute::kNone);
  out.flag(kDistributed, at.zero != describe::Zero::kNone);
  out.text("megatron_lm_config.megatron_lm_gradient_clipping", "1.0");
}

void read_megatron(SettingReader& reader, Reading& reading) {
  describe::Layout& at = reading.layout;
  keep_converted(at);
  at.tp = reader.whole(kMegatronTp, 1, describe::kMostDevices).value_or(1);
  reader.fact("tp", std::to_string(at.tp), kMegatronTp);
  at.pp = reader.whole(kMegatronPp, 1, describe::kMostDevices).value_or(1);
  reader.fact("pp", std::to_string(at.pp), kMegatronPp);
  at.sp = at.tp > 1 && reader.flag(kMegatronSp).value_or(false);
  reader.fact("sp", at.sp ? "1" : "0", kMegatronSp);
  at.dp = quotient(reading, saturating_product({at.tp, at.pp}));
  if (reader.flag(kSelective).value_or(false)) {
    at.recompute = {.granularity = describe::Recompute::kSelective,
                    .modules = {describe::RecomputeModule::kCoreAttention}};
    reader.fact("recompute", "selective", kSelective);
  }
  if (reader.flag(kDistributed).value_or(false)) {
    at.zero = describe::Zero::kOptimizer;
    reader.fact("zero", "1", kDistributed);
  }
}

}  // namespace

void write_engine_settings(Engine engine, const describe::Job& job, SettingWriter& out) {
  switch (engine) {
    case Engine::kFsdp:
      write_fsdp(job, out);
      break;
    case Engine::kDeepspeed:
      write_deepspeed(job.layout, out);
      break;
    case Engine::kMegatron:
      write_megatron(job, out);
      break;
    case Engine::kSingle:
    case Engine::kDdp:
      break;
  }
}

void read_engine_settings(Engine engine, SettingReader& reader, Reading& reading) {
  switch (engine) {
    case Engine::kFsdp:
      read_fsdp(reader, reading);
      break;
    case Engine::kDeepspeed:
      read_deepspeed(reader, reading);
      break;
    case Engine::kMegatron:
      read_megatron(reader, reading);
      break;
    case Engine::kSingle:
    case Engine::kDdp:
      read_ddp(reading);
      break;
  }
}

}  // namespace sextant::emit::accelerate
