// Source: DeepSpeed's configuration reference and runtime/config.py, runtime/zero/config.py,
// runtime/engine.py (get_data_types), module_inject AutoTP and AutoEP options.
#include "emit/deepspeed.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/layout/framework_defaults.h"
#include "emit/canonical.h"
#include "emit/setting_values.h"

namespace sextant::emit {
namespace {

using namespace describe;  // NOLINT(google-build-using-namespace)

constexpr std::int64_t kMostRanks = 10'000'000;
constexpr std::int64_t kMostBatch = 1'000'000'000;
constexpr std::string_view kTp = "tensor_parallel.autotp_size";
constexpr std::string_view kSequence = "sequence_parallel_size";
constexpr std::string_view kEp = "expert_parallel.autoep_size";
constexpr std::string_view kStage = "zero_optimization.stage";
constexpr std::string_view kShards = "zero_optimization.mics_shard_size";
constexpr std::string_view kSecondShards = "zero_optimization.zero_hpz_partition_size";
constexpr std::string_view kOverlap = "zero_optimization.overlap_comm";
constexpr std::string_view kTpOverlap = "tensor_parallel.tp_overlap_comm";
constexpr std::string_view kOffloadOptimizer = "zero_optimization.offload_optimizer.device";
constexpr std::string_view kOffloadParameters = "zero_optimization.offload_param.device";
constexpr std::string_view kBatch = "train_batch_size";
constexpr std::string_view kMicroBatch = "train_micro_batch_size_per_gpu";
constexpr std::string_view kAccumulation = "gradient_accumulation_steps";
constexpr std::string_view kBf16 = "bf16.enabled";
constexpr std::string_view kBf16Alias = "bfloat16.enabled";
constexpr std::string_view kBf16Masters = "bf16.bf16_master_weights_and_grads";
constexpr std::string_view kBf16States = "bf16.bf16_optimizer_states";
constexpr std::string_view kFp16 = "fp16.enabled";
constexpr std::string_view kGradients = "data_types.grad_accum_dtype";
constexpr std::string_view kOptimizer = "optimizer.type";
constexpr std::string_view kCheckpoints = "activation_checkpointing.number_checkpoints";
constexpr std::string_view kPartition = "activation_checkpointing.partition_activations";
constexpr std::string_view kHostCheckpoints = "activation_checkpointing.cpu_checkpointing";
constexpr std::string_view kCompile = "compile.deepcompile";

using Reason = std::pair<std::string_view, std::string_view>;
constexpr std::array kReasons{
    Reason{"sp", "AutoTP does not shard the sequence"},
    Reason{"cp_method", "its sequence parallelism exchanges heads (Ulysses)"},
    Reason{"pp", "the pipeline engine is set up by the training script"},
    Reason{"dp", "without a pipeline its ranks are data parallel"},
    Reason{"etp", "expert tensor parallelism is always 1"},
    Reason{"zero_group", "only ZeRO 3 shards in groups (MiCS)"},
    Reason{"reshard", "ZeRO 3 always frees gathered parameters"},
    Reason{"recompute",
           "the training script decides what is recomputed; the file says all or none"},
    Reason{"activation_offload", "only recomputed layers' inputs can wait in host memory"},
    Reason{"precision", "it knows fp32, fp16 and bf16"},
    Reason{"parameters", "parameters have the precision's format"},
    Reason{"optimizer", "states are fp32, or bf16 beside bf16 parameters"},
    Reason{"overlap", "overlap_comm hides reductions, and gathers of ZeRO 3"},
    Reason{"order", "ranks are tp-cp-dp, innermost first"},
};

constexpr std::array<Word<Storage>, 3> kTypes{
    {{Storage::kFp32, "fp32"}, {Storage::kBf16, "bf16"}, {Storage::kFp16, "fp16"}}};
constexpr std::array<Word<OptimizerKind>, 5> kOptimizers{{{OptimizerKind::kAdam, "AdamW"},
                                                          {OptimizerKind::kAdam, "Adam"},
                                                          {OptimizerKind::kMuon, "Muon"},
                                                          {OptimizerKind::kSgd, "SGD"},
                                                          {OptimizerKind::kAdam, "FusedAdam"}}};

void add(std::vector<Setting>& settings, std::string_view key, std::string value) {
  settings.push_back({std::string(key), {std::move(value)}, {}});
}
void add(std::vector<Setting>& settings, std::string_view key, std::int64_t value) {
  add(settings, key, std::to_string(value));
}
void add_flag(std::vector<Setting>& settings, std::string_view key, bool value) {
  add(settings, key, std::string(value ? "true" : "false"));
}

// What the precision makes of the other formats when nothing else is said.
struct Formats {
  Storage parameters = Storage::kFp32;
  Storage gradients = Storage::kFp32;
  Storage master = Storage::kNone;
};

// Gradients are kept in the parameters' format, but in fp32 for bf16 without ZeRO.
Formats formats_of(Precision precision, Zero zero) {
  if (precision == Precision::kBf16) {
    return {Storage::kBf16, zero == Zero::kNone ? Storage::kFp32 : Storage::kBf16, Storage::kFp32};
  }
  return precision == Precision::kFp16 ? Formats{Storage::kFp16, Storage::kFp16, Storage::kFp32}
                                       : Formats{};
}

// The precision it can say, nearest to the layout's.
Precision precision_of(const Layout& at) {
  if (at.precision == Precision::kFp32 || at.precision == Precision::kTf32) {
    return Precision::kFp32;
  }
  return at.precision == Precision::kFp16 ? Precision::kFp16 : Precision::kBf16;
}

void write_sharding(const Layout& at, std::vector<Setting>& settings) {
  add(settings, kStage, static_cast<std::int64_t>(at.zero));
  if (at.zero == Zero::kParameters && at.zero_group > 0) {
    add(settings, kShards, at.zero_group);
  }
  if (at.zero != Zero::kNone) {
    add_flag(settings, kOverlap, at.overlaps(Overlap::kGradReduce));
  }
  if (at.optimizer.offload && at.zero != Zero::kNone) {
    add(settings, kOffloadOptimizer, std::string("cpu"));
  }
  if (at.tp > 1) {
    add(settings, kTp, at.tp);
    add_flag(settings, kTpOverlap, at.overlaps(Overlap::kTensorParallel));
  }
  if (at.cp > 1) {
    add(settings, kSequence, at.cp);
  }
  if (at.ep > 1) {
    add_flag(settings, "expert_parallel.enabled", true);
    add(settings, kEp, at.ep);
  }
}

void write_batch(const Job& job, const Layout& at, std::vector<Setting>& settings) {
  add(settings, kBatch, job.global_batch);
  add(settings, kMicroBatch, at.mbs);
  const std::int64_t round = saturating_product({at.dp, at.mbs});
  if (at.pp == 1 && round > 0 && job.global_batch % round == 0) {
    add(settings, kAccumulation, job.global_batch / round);
  }
}

void write_formats(const Layout& at, std::vector<Setting>& settings) {
  const Precision precision = precision_of(at);
  if (precision != Precision::kFp32) {
    add_flag(settings, precision == Precision::kBf16 ? kBf16 : kFp16, true);
    if (word_of<Storage>(kTypes, at.gradients) != "?") {
      add(settings, kGradients, std::string(word_of<Storage>(kTypes, at.gradients)));
    }
  }
  const bool narrow = precision == Precision::kBf16 && at.optimizer.master == Storage::kBf16;
  if (narrow) {
    add_flag(settings, kBf16Masters, true);
    add_flag(settings, kBf16States, at.optimizer.first_moment == Storage::kBf16);
  }
  const std::string_view kind = word_of<OptimizerKind>(kOptimizers, at.optimizer.kind);
  add(settings, kOptimizer, std::string(kind == "?" ? "AdamW" : kind));
}

void write_kernels(const Job& job, const Layout& at, std::vector<Setting>& settings) {
  if (at.recompute.granularity == Recompute::kFull) {
    add(settings, kCheckpoints, job.model.layer_count());
    if (at.activation_offload) {
      add_flag(settings, kPartition, at.tp > 1);
      add_flag(settings, kHostCheckpoints, true);
    }
  }
  if (at.launch == Launch::kCompiled) {
    add_flag(settings, kCompile, true);
  }
}

void read_axes(SettingReader& reader, Reading& reading) {
  Layout& at = reading.layout;
  const auto size = [&](std::string_view key, std::string_view field, std::int64_t& member) {
    if (const auto value = reader.whole(key, 0, kMostRanks)) {
      member = std::max<std::int64_t>(1, *value);
      reader.fact(field, std::to_string(member), key);
    }
  };
  size(kTp, "tp", at.tp);
  size(kSequence, "cp", at.cp);
  if (reader.flag("expert_parallel.enabled").value_or(true)) {
    size(kEp, "ep", at.ep);
  }
  at.cp_method = at.cp > 1 ? CpMethod::kAllToAll : CpMethod::kP2pRing;
  reading.devices = reader.launched("devices");
  reading.devices_per_node = reader.launched("devices_per_node");
  const auto nodes = reader.launched("nodes");
  if (!reading.devices && nodes && reading.devices_per_node) {
    reading.devices = saturating_product({*nodes, *reading.devices_per_node});
  }
  const std::int64_t model_ranks = std::max<std::int64_t>(1, saturating_product({at.tp, at.cp}));
  if (reading.devices && *reading.devices % model_ranks == 0) {
    at.dp = *reading.devices / model_ranks;
  } else if (reading.devices) {
    reader.unresolved(
        kTp, fmt::format("{} ranks do not divide {} devices", model_ranks, *reading.devices));
  }
}

void read_sharding(SettingReader& reader, Reading& reading) {
  Layout& at = reading.layout;
  const std::int64_t stage = reader.whole(kStage, 0, 3).value_or(0);
  at.zero = static_cast<Zero>(stage);
  reader.fact("zero", std::to_string(stage), kStage);
  const auto shards = reader.whole(kShards, -1, kMostRanks);
  if (shards && *shards > 0 && at.zero == Zero::kParameters) {
    at.zero_group = *shards;
    reader.fact("zero_group", std::to_string(*shards), kShards);
  }
  if (reader.whole(kSecondShards, 1, kMostRanks).value_or(1) > 1) {
    reader.unresolved(kSecondShards,
                      "a second copy of the parameters in each group is not part of "
                      "a layout; gathers in the backward pass stay inside it");
  }
  const std::string parameters = reader.text(kOffloadParameters).value_or("none");
  if (parameters != "none") {
    reader.unresolved(kOffloadParameters,
                      "parameters outside of the device are not part of a "
                      "layout");
  }
  // Without a word overlap_comm is on for ZeRO 3 only.
  const bool overlap =
      at.zero != Zero::kNone && reader.flag(kOverlap).value_or(at.zero == Zero::kParameters);
  if (overlap && (at.dp != 1 || at.cp > 1)) {
    at.overlap.push_back(Overlap::kGradReduce);
    if (at.zero == Zero::kParameters) {
      at.overlap.push_back(Overlap::kParamGather);
    }
  }
  reader.fact("overlap", overlap ? "grad_reduce" : "none", kOverlap);
  if (at.tp > 1 && reader.flag(kTpOverlap).value_or(false)) {
    at.overlap.push_back(Overlap::kTensorParallel);
    reader.fact("overlap", "tp", kTpOverlap);
  }
}

// train_batch_size = micro · accumulation · dp: any two give the third.
void read_batch(SettingReader& reader, Reading& reading) {
  Layout& at = reading.layout;
  const auto batch = reader.whole(kBatch, 1, kMostBatch);
  auto micro = reader.whole(kMicroBatch, 1, kMostBatch);
  auto rounds = reader.whole(kAccumulation, 1, kMostBatch);
  const std::string_view said = micro ? kMicroBatch : kBatch;
  if (!micro && batch && at.dp > 0) {
    // DeepSpeed takes one accumulation step where only the whole is given.
    const std::int64_t share =
        std::max<std::int64_t>(1, saturating_product({at.dp, rounds.value_or(1)}));
    if (*batch % share == 0) {
      micro = *batch / share;
    } else {
      reader.unresolved(kBatch, fmt::format("it does not divide over {} ranks and steps", share));
    }
  }
  if (!micro) {
    reader.unresolved(kMicroBatch, "the micro-batch is given by nothing in the file");
  }
  at.mbs = micro.value_or(1);
  reader.fact("mbs", std::to_string(at.mbs), said);
  if (batch) {
    reading.global_batch = batch;
    reader.fact("gbs", std::to_string(*batch), kBatch);
    const std::int64_t whole = saturating_product({micro.value_or(0), rounds.value_or(0), at.dp});
    if (whole > 0 && whole != *batch) {
      reader.unresolved(kBatch, fmt::format("micro-batch · accumulation · dp={} is {}, not {}: "
                                            "DeepSpeed refuses it",
                                            at.dp, whole, *batch));
    }
  } else if (micro && at.dp > 0) {
    const bool open = reader.find(kAccumulation) != nullptr && !rounds;
    if (!open) {
      reading.global_batch = saturating_product({*micro, rounds.value_or(1), at.dp});
      reader.fact("gbs", std::to_string(*reading.global_batch), said);
    }
  }
}

void read_formats(SettingReader& reader, Reading& reading) {
  Layout& at = reading.layout;
  const bool bf16 = reader.flag(kBf16).value_or(reader.flag(kBf16Alias).value_or(false));
  const bool fp16 = reader.flag(kFp16).value_or(false);
  at.precision = bf16 ? Precision::kBf16 : fp16 ? Precision::kFp16 : Precision::kFp32;
  reader.fact("precision", std::string(word_of<Precision>(kPrecisionWords, at.precision)),
              bf16 ? (reader.find(kBf16) != nullptr ? kBf16 : kBf16Alias) : kFp16);
  const Formats formats = formats_of(at.precision, at.zero);
  at.parameters = formats.parameters;
  at.gradients = formats.gradients;
  if (at.precision != Precision::kFp32) {
    at.gradients = reader.word<Storage>(kGradients, kTypes).value_or(formats.gradients);
    reader.fact("gradients", std::string(word_of<Storage>(kStorageWords, at.gradients)),
                kGradients);
  }
  const auto kind = reader.word<OptimizerKind>(kOptimizer, kOptimizers);
  at.optimizer = default_optimizer(kind.value_or(OptimizerKind::kAdam));
  at.optimizer.master = formats.master;
  if (bf16 && reader.flag(kBf16Masters).value_or(false)) {
    at.optimizer.master = Storage::kBf16;
    if (reader.flag(kBf16States).value_or(false)) {
      const auto narrowed = [](Storage state) {
        return state == Storage::kNone ? state : Storage::kBf16;
      };
      at.optimizer.first_moment = narrowed(at.optimizer.first_moment);
      at.optimizer.second_moment = narrowed(at.optimizer.second_moment);
    }
  }
  const std::string device = reader.text(kOffloadOptimizer).value_or("none");
  at.optimizer.offload = at.zero != Zero::kNone && device != "none";
  if (device == "nvme") {
    reader.unresolved(kOffloadOptimizer, "states on a disk are read as in host memory");
  }
  const std::string_view key = reader.find(kOptimizer) != nullptr ? kOptimizer : kOffloadOptimizer;
  reader.fact("optimizer", std::string(word_of<OptimizerKind>(kOptimizerWords, at.optimizer.kind)),
              key);
}

// The section configures DeepSpeed's own checkpointing and is often there with everything off; one
// that asks for something is taken as used for every layer.
void read_kernels(SettingReader& reader, Reading& reading) {
  Layout& at = reading.layout;
  const bool host = reader.flag(kHostCheckpoints).value_or(false);
  const auto checkpoints = reader.whole(kCheckpoints, 0, kMostBatch);
  if (host || reader.flag(kPartition).value_or(false) || checkpoints.value_or(0) > 0) {
    at.recompute.granularity = Recompute::kFull;
    at.activation_offload = host;
    const std::string_view key = checkpoints ? kCheckpoints : host ? kHostCheckpoints : kPartition;
    reader.fact("recompute", "full", key);
  }
  if (reader.flag(kCompile).value_or(false)) {
    at.launch = Launch::kCompiled;
    reader.fact("compile", "compile", kCompile);
  }
}

void read_parts(SettingReader& reader, Reading& reading) {
  read_axes(reader, reading);
  read_sharding(reader, reading);
  read_batch(reader, reading);
  read_formats(reader, reading);
  read_kernels(reader, reading);
}

// Top-level names; the inside of a known section is taken as known.
constexpr auto kKnown = std::to_array<std::string_view>({"activation_checkpointing",
                                                         "aio",
                                                         "amp",
                                                         "autotuning",
                                                         "bf16",
                                                         "bfloat16",
                                                         "checkpoint",
                                                         "comms_logger",
                                                         "communication_data_type",
                                                         "compile",
                                                         "compression_training",
                                                         "csv_monitor",
                                                         "curriculum_learning",
                                                         "data_efficiency",
                                                         "data_types",
                                                         "dataloader_drop_last",
                                                         "disable_allgather",
                                                         "dump_state",
                                                         "eigenvalue",
                                                         "elasticity",
                                                         "expert_parallel",
                                                         "flops_profiler",
                                                         "fp16",
                                                         "fp32_allreduce",
                                                         "gradient_accumulation_steps",
                                                         "gradient_clipping",
                                                         "gradient_predivide_factor",
                                                         "hybrid_engine",
                                                         "memory_breakdown",
                                                         "monitor_config",
                                                         "nebula",
                                                         "optimizer",
                                                         "pipeline",
                                                         "prescale_gradients",
                                                         "progressive_layer_drop",
                                                         "scheduler",
                                                         "seq_parallel_communication_data_type",
                                                         "sequence_parallel_size",
                                                         "sparse_attention",
                                                         "sparse_gradients",
                                                         "steps_per_print",
                                                         "tensor_parallel",
                                                         "tensorboard",
                                                         "timers",
                                                         "train_batch_size",
                                                         "train_micro_batch_size_per_gpu",
                                                         "wandb",
                                                         "wall_clock_breakdown",
                                                         "zero_optimization",
                                                         "graph_harvesting",
                                                         "load_universal_checkpoint",
                                                         "torch_autocast",
                                                         "use_data_before_expert_parallelism",
                                                         "use_node_local_storage",
                                                         "weight_quantization",
                                                         "zero_allow_untested_optimizer",
                                                         "zero_force_ds_cpu_optimizer"});

bool is_known(std::string_view key) {
  const std::string_view top = key.substr(0, key.find('.'));
  return std::find(kKnown.begin(), kKnown.end(), top) != kKnown.end();
}

}  // namespace

Writing write_deepspeed(const Job& job) {
  Writing writing;
  writing.settings.dialect = Dialect::kDeepspeed;
  writing.settings.launch = launch_settings(job);
  const Layout wanted = canonical_layout(job);
  std::vector<Setting>& given = writing.settings.given;
  write_batch(job, wanted, given);
  write_sharding(wanted, given);
  write_formats(wanted, given);
  write_kernels(job, wanted, given);
  // What a reader of these settings sees is what the framework will run.
  Reading reading;
  SettingReader reader(writing.settings, reading);
  read_parts(reader, reading);
  writing.left_out = left_out_of(wanted, reading.layout, kReasons);
  return writing;
}

Reading read_deepspeed(const Settings& settings, const DataStore& /*data*/) {
  Reading reading;
  reading.dialect = Dialect::kDeepspeed;
  reading.unresolved = settings.unresolved;
  SettingReader reader(settings, reading);
  read_parts(reader, reading);
  for (const Setting& setting : settings.given) {
    if (!is_known(setting.key)) {
      reading.unknown.push_back(setting);
    }
  }
  return reading;
}

}  // namespace sextant::emit
