#include "emit/accelerate_engines.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/integers.h"

namespace sextant::emit::accelerate {
namespace {

using namespace describe;  // NOLINT(google-build-using-namespace)

constexpr std::int64_t kMost = 10'000'000;
constexpr std::string_view kReplicate = "parallelism_config.parallelism_config_dp_replicate_size";
constexpr std::string_view kShard = "parallelism_config.parallelism_config_dp_shard_size";
constexpr std::string_view kTp = "parallelism_config.parallelism_config_tp_size";
constexpr std::string_view kCp = "parallelism_config.parallelism_config_cp_size";
constexpr std::string_view kRotate = "parallelism_config.parallelism_config_cp_comm_strategy";
constexpr std::string_view kSp = "parallelism_config.parallelism_config_sp_size";
constexpr std::string_view kSpBackend = "parallelism_config.parallelism_config_sp_backend";
constexpr std::string_view kVersion = "fsdp_config.fsdp_version";
constexpr std::string_view kReshard = "fsdp_config.fsdp_reshard_after_forward";
constexpr std::string_view kStrategy = "fsdp_config.fsdp_sharding_strategy";
constexpr std::string_view kCheckpointing = "fsdp_config.fsdp_activation_checkpointing";
constexpr std::string_view kOffload = "fsdp_config.fsdp_offload_params";
constexpr std::string_view kPrefetch = "fsdp_config.fsdp_backward_prefetch";
constexpr std::string_view kStage = "deepspeed_config.zero_stage";
constexpr std::string_view kOptimizerDevice = "deepspeed_config.offload_optimizer_device";
constexpr std::string_view kParameterDevice = "deepspeed_config.offload_param_device";
constexpr std::string_view kDeepspeedFile = "deepspeed_config.deepspeed_config_file";
constexpr std::string_view kMegatronTp = "megatron_lm_config.megatron_lm_tp_degree";
constexpr std::string_view kMegatronPp = "megatron_lm_config.megatron_lm_pp_degree";
constexpr std::string_view kMegatronSp = "megatron_lm_config.megatron_lm_sequence_parallelism";
constexpr std::string_view kMicrobatches = "megatron_lm_config.megatron_lm_num_micro_batches";
constexpr std::string_view kSelective = "megatron_lm_config.megatron_lm_recompute_activations";
constexpr std::string_view kDistributed =
    "megatron_lm_config.megatron_lm_use_distributed_optimizer";

// torch's context parallelism: all keys and values at once, or round the ring by all-to-all.
constexpr std::array<Word<CpMethod>, 2> kRotateWords{
    {{CpMethod::kAllGather, "allgather"}, {CpMethod::kP2pRing, "alltoall"}}};

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
void keep_fp32(Layout& at) {
  at.parameters = Storage::kFp32;
  at.gradients = Storage::kFp32;
  at.optimizer.master = Storage::kNone;
}

// Parameters are converted; an fp32 copy is kept.
void keep_converted(Layout& at) {
  if (at.precision == Precision::kFp32) {
    keep_fp32(at);
  } else {
    at.parameters = at.precision == Precision::kFp16 ? Storage::kFp16 : Storage::kBf16;
  }
}

bool replicated(const Layout& at) {
  return at.dp == 0 || saturating_product({at.dp, at.cp}) > 1;
}

void write_fsdp(const Job& job, SettingWriter& out) {
  const Layout& at = job.layout;
  const std::int64_t dp = std::max<std::int64_t>(1, job.dp());
  const std::int64_t groups = at.zero_group > 0 ? dp * at.cp / at.zero_group : 1;
  // A single replica group without shards is no mesh that Accelerate takes.
  const bool replicas = groups > 1 && dp % groups == 0 && dp / groups > 1;
  out.whole(kVersion, 2);
  out.flag(kReshard, at.reshard_after_forward || at.zero != Zero::kParameters);
  out.text("fsdp_config.fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
  out.flag(kCheckpointing, at.recompute.granularity == Recompute::kFull);
  out.flag(kOffload, at.optimizer.offload);
  out.flag("fsdp_config.fsdp_cpu_ram_efficient_loading", true);
  out.text("fsdp_config.fsdp_state_dict_type", "SHARDED_STATE_DICT");
  out.whole(kReplicate, replicas ? groups : 1);
  out.whole(kShard, replicas ? dp / groups : dp);
  out.whole(kTp, at.tp);
  const bool heads = at.cp > 1 && at.cp_method == CpMethod::kAllToAll;
  out.whole(kCp, heads ? 1 : at.cp);
  if (heads) {
    out.whole(kSp, at.cp);
    out.text(kSpBackend, "deepspeed");
  } else if (at.cp > 1) {
    out.text(kRotate, at.cp_method == CpMethod::kAllGather ? "allgather" : "alltoall");
  }
}

void read_context(SettingReader& reader, Layout& at) {
  at.cp = reader.whole(kCp, 1, kMost).value_or(1);
  reader.fact("cp", std::to_string(at.cp), kCp);
  const std::int64_t heads = reader.whole(kSp, 1, kMost).value_or(1);
  if (heads > 1 && at.cp > 1) {
    reader.unresolved(kSp, "cp_size and sp_size exclude each other; read as cp alone");
  } else if (heads > 1) {
    at.cp = heads;
    at.cp_method = CpMethod::kAllToAll;
    reader.fact("cp", std::to_string(heads), kSp);
    return;
  }
  const auto rotate = reader.word<CpMethod>(kRotate, kRotateWords).value_or(CpMethod::kAllGather);
  if (at.cp > 1) {
    at.cp_method = rotate;
    reader.fact("cp_method", std::string(word_of<CpMethod>(kCpMethodWords, rotate)), kRotate);
  }
}

// dp as replicas of shards; without sizes all devices are one shard group.
void read_parallelism(SettingReader& reader, Reading& reading) {
  Layout& at = reading.layout;
  at.tp = reader.whole(kTp, 1, kMost).value_or(1);
  reader.fact("tp", std::to_string(at.tp), kTp);
  read_context(reader, at);
  const std::int64_t rest = quotient(reading, saturating_product({at.tp, at.cp}));
  const auto replicas = reader.whole(kReplicate, 1, kMost);
  const auto shard = reader.whole(kShard, 1, kMost);
  if (!replicas && !shard) {
    at.dp = rest;
    return;
  }
  at.dp = saturating_product({replicas.value_or(1), shard.value_or(1)});
  for (const std::string_view key : {kReplicate, kShard}) {
    reader.fact("dp", std::to_string(at.dp), key);
  }
  if (replicas.value_or(1) > 1) {
    at.zero_group = saturating_product({shard.value_or(1), at.cp});
    reader.fact("zero_group", std::to_string(at.zero_group), kShard);
  }
  if (reading.devices && rest != at.dp) {
    reader.unresolved(
        kShard,
        fmt::format("dp_replicate * dp_shard * cp * sp * tp is {}, the job has {} processes",
                    saturating_product({at.dp, at.cp, at.tp}), *reading.devices));
  }
  reading.devices =
      reading.devices ? reading.devices : std::optional(saturating_product({at.dp, at.cp, at.tp}));
}

void read_strategy(SettingReader& reader, Reading& reading) {
  Layout& at = reading.layout;
  const auto word = reader.text(kStrategy);
  const auto* const row =
      std::find_if(kStrategies.begin(), kStrategies.end(),
                   [&](const Strategy& each) { return each.word == word || each.number == word; });
  if (!word) {
    return;
  }
  if (row == kStrategies.end()) {
    reader.unresolved(kStrategy, "not one of FSDP's strategies; read as FULL_SHARD");
    return;
  }
  at.zero = row->shards ? Zero::kParameters : Zero::kNone;
  at.reshard_after_forward = row->reshard;
  reader.fact("zero", row->shards ? "3" : "0", kStrategy);
  if (row->hybrid && reading.devices_per_node && at.dp > *reading.devices_per_node) {
    at.zero_group = *reading.devices_per_node;
    reader.fact("zero_group", std::to_string(at.zero_group), kStrategy);
  }
}

void read_fsdp(SettingReader& reader, Reading& reading) {
  Layout& at = reading.layout;
  at.zero = Zero::kParameters;
  keep_fp32(at);
  read_parallelism(reader, reading);
  read_strategy(reader, reading);
  // In version 1 the same key holds the strategy.
  if (reader.whole(kVersion, 1, 2).value_or(1) == 2) {
    at.reshard_after_forward = reader.flag(kReshard).value_or(true);
    reader.fact("reshard", at.reshard_after_forward ? "1" : "0", kReshard);
  }
  if (reader.flag(kCheckpointing).value_or(false)) {
    at.recompute.granularity = Recompute::kFull;
    reader.fact("recompute", "full", kCheckpointing);
  }
  at.optimizer.offload = reader.flag(kOffload).value_or(false);
  reader.fact("optimizer", at.optimizer.offload ? "offload" : "on the device", kOffload);
  if (replicated(at)) {
    at.overlap = {Overlap::kGradReduce};
    if (at.zero != Zero::kNone && reader.text(kPrefetch).value_or("") != "NO_PREFETCH") {
      at.overlap.push_back(Overlap::kParamGather);
    }
  }
}

void read_ddp(Reading& reading) {
  Layout& at = reading.layout;
  keep_fp32(at);
  at.dp = quotient(reading, 1);
  if (replicated(at)) {
    at.overlap = {Overlap::kGradReduce};
  }
}

void write_deepspeed(const Layout& at, SettingWriter& out) {
  out.whole(kStage, static_cast<int>(at.zero));
  out.text(kOptimizerDevice, at.optimizer.offload ? "cpu" : "none");
  out.text(kParameterDevice, "none");
  out.text("deepspeed_config.gradient_accumulation_steps", "auto");
}

void read_deepspeed(SettingReader& reader, Reading& reading) {
  Layout& at = reading.layout;
  keep_converted(at);
  at.dp = quotient(reading, 1);
  if (reader.text(kDeepspeedFile)) {
    reader.unresolved(kDeepspeedFile, "that file holds the settings; give it too");
  }
  // accelerate config's own answer.
  const std::int64_t stage = reader.whole(kStage, 0, 3).value_or(2);
  at.zero = static_cast<Zero>(stage);
  reader.fact("zero", std::to_string(stage), kStage);
  const std::string device = reader.text(kOptimizerDevice).value_or("none");
  at.optimizer.offload = device == "cpu" || device == "nvme";
  reader.fact("optimizer", at.optimizer.offload ? "offload" : "on the device", kOptimizerDevice);
  if (reader.text(kParameterDevice).value_or("none") != "none") {
    reader.unresolved(kParameterDevice, "parameters in host memory have no description; left out");
  }
  // overlap_comm is on by default for stage 3 only.
  if (replicated(at) && at.zero == Zero::kParameters) {
    at.overlap = {Overlap::kGradReduce, Overlap::kParamGather};
  }
}

void write_megatron(const Job& job, SettingWriter& out) {
  const Layout& at = job.layout;
  out.whole(kMegatronTp, at.tp);
  out.whole(kMegatronPp, at.pp);
  out.whole(kMicrobatches, std::max<std::int64_t>(1, job.microbatches()));
  out.flag(kMegatronSp, at.sp);
  out.flag(kSelective, at.recompute.granularity != Recompute::kNone);
  out.flag(kDistributed, at.zero != Zero::kNone);
  out.text("megatron_lm_config.megatron_lm_gradient_clipping", "1.0");
}

void read_megatron(SettingReader& reader, Reading& reading) {
  Layout& at = reading.layout;
  keep_converted(at);
  at.tp = reader.whole(kMegatronTp, 1, kMost).value_or(1);
  reader.fact("tp", std::to_string(at.tp), kMegatronTp);
  at.pp = reader.whole(kMegatronPp, 1, kMost).value_or(1);
  reader.fact("pp", std::to_string(at.pp), kMegatronPp);
  at.sp = at.tp > 1 && reader.flag(kMegatronSp).value_or(false);
  reader.fact("sp", at.sp ? "1" : "0", kMegatronSp);
  at.dp = quotient(reading, saturating_product({at.tp, at.pp}));
  if (reader.flag(kSelective).value_or(false)) {
    at.recompute = {.granularity = Recompute::kSelective,
                    .modules = {RecomputeModule::kCoreAttention}};
    reader.fact("recompute", "selective", kSelective);
  }
  if (reader.flag(kDistributed).value_or(false)) {
    at.zero = Zero::kOptimizer;
    reader.fact("zero", "1", kDistributed);
  }
}

}  // namespace

void write_engine_settings(Engine engine, const Job& job, SettingWriter& out) {
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
