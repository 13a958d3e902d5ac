#include "emit/accelerate.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "emit/accelerate_engines.h"
#include "emit/canonical.h"

namespace sextant::emit {
namespace {

using accelerate::Engine;

constexpr std::string_view kDistributedType = "distributed_type";
constexpr std::string_view kMixed = "mixed_precision";
constexpr std::string_view kMachines = "num_machines";
constexpr std::string_view kProcesses = "num_processes";
constexpr std::string_view kDynamoBackend = "dynamo_config.dynamo_backend";
constexpr std::string_view kDynamoMode = "dynamo_config.dynamo_mode";

constexpr std::array<describe::Word<Engine>, 7> kEngineWords{{{Engine::kFsdp, "FSDP"},
                                                              {Engine::kDdp, "MULTI_GPU"},
                                                              {Engine::kDeepspeed, "DEEPSPEED"},
                                                              {Engine::kMegatron, "MEGATRON_LM"},
                                                              {Engine::kSingle, "NO"},
                                                              {Engine::kSingle, "No"},
                                                              {Engine::kSingle, "no"}}};
constexpr std::array<describe::Word<describe::Precision>, 4> kMixedWords{
    {{describe::Precision::kBf16, "bf16"},
     {describe::Precision::kFp16, "fp16"},
     {describe::Precision::kFp8, "fp8"},
     {describe::Precision::kFp32, "no"}}};

constexpr std::array<Reason, 21> kAccelerateReasons{{
    {"tp", "tensor parallelism needs FSDP 2 or Megatron-LM"},
    {"sp", "only Megatron-LM splits the sequence inside the tensor-parallel group"},
    {"cp", "context parallelism needs FSDP 2"},
    {"cp_method", "keys and values are gathered or turned round the ring, or heads exchanged (sp)"},
    {"cp_inner", "there is one level of context parallelism"},
    {"pp", "a pipeline needs Megatron-LM"},
    {"vpp", "a rank has one model chunk"},
    {"schedule", "Megatron-LM's pipeline under Accelerate is 1F1B"},
    {"layers_per_stage", "stages have the same layers"},
    {"ep", "Accelerate has no expert parallelism"},
    {"etp", "Accelerate has no expert parallelism"},
    {"zero", "FSDP shards everything, DDP nothing; DeepSpeed takes neither tp nor cp"},
    {"zero_group", "only FSDP 2 has replicas of shards (dp_replicate_size)"},
    {"mbs", "the training script sets it"},
    {"recompute", "fsdp_activation_checkpointing is all or nothing, Megatron-LM's selective"},
    {"precision", "mixed_precision is no, fp16, bf16 or fp8"},
    {"parameters", "parameters stay fp32 under FSDP and DDP, and in the compute format elsewhere"},
    {"gradients", "gradients follow the engine"},
    {"optimizer", "the training script chooses it; its states follow the engine"},
    {"overlap", "overlap follows the engine"},
    {"order", "ranks are ordered tp-cp-dp, with Megatron-LM tp-cp-ep-dp-pp"},
}};

// What can say most of the layout.
Engine engine_for(const describe::Job& job) {
  const describe::Layout& at = job.layout;
  if (at.pp > 1 || at.sp || (at.tp > 1 && at.zero != describe::Zero::kParameters)) {
    return Engine::kMegatron;
  }
  if (at.zero == describe::Zero::kParameters || at.cp > 1) {
    return Engine::kFsdp;
  }
  if (at.zero != describe::Zero::kNone) {
    return Engine::kDeepspeed;
  }
  return job.cluster.devices > 1 ? Engine::kDdp : Engine::kSingle;
}

void write_common(const describe::Job& job, Engine engine, SettingWriter& out) {
  const describe::Layout& at = job.layout;
  out.text("compute_environment", "LOCAL_MACHINE");
  out.flag("debug", false);
  out.text(kDistributedType, describe::word_of<Engine>(kEngineWords, engine));
  const std::string_view mixed = describe::word_of<describe::Precision>(kMixedWords, at.precision);
  out.text(kMixed, mixed == "?" ? "bf16" : mixed);
  const auto launch = launch_settings(job);
  out.text(kMachines, find(launch, "nodes")->values[0]);
  out.whole(kProcesses, job.cluster.devices);
  if (at.launch != describe::Launch::kEager) {
    out.text(kDynamoBackend, "INDUCTOR");
    out.text(kDynamoMode,
             at.launch == describe::Launch::kCudaGraph ? "reduce-overhead" : "default");
  }
}

void read_processes(SettingReader& reader, Reading& reading) {
  reading.devices = reader.whole(kProcesses, 1, describe::kMostDevices);
  if (reading.devices) {
    reader.fact("devices", std::to_string(*reading.devices), kProcesses);
  } else {
    reading.devices = reader.launched("devices");
  }
  const auto machines = reader.whole(kMachines, 1, describe::kMostDevices);
  if (reading.devices && machines && *reading.devices % *machines == 0) {
    reading.devices_per_node = *reading.devices / *machines;
    reader.fact("devices_per_node", std::to_string(*reading.devices_per_node), kMachines);
  } else {
    reading.devices_per_node = reader.launched("devices_per_node");
  }
}

Engine read_engine(SettingReader& reader, const Reading& reading) {
  if (const auto said = reader.word<Engine>(kDistributedType, kEngineWords)) {
    return *said;
  }
  return reading.devices.value_or(1) > 1 ? Engine::kDdp : Engine::kSingle;
}

void read_dynamo(SettingReader& reader, describe::Layout& at) {
  const std::string backend = to_lower(reader.text(kDynamoBackend).value_or("no"));
  if (backend == "no" || backend == "eager") {
    return;
  }
  const std::string mode = reader.text(kDynamoMode).value_or("default");
  at.launch =
      mode == "reduce-overhead" ? describe::Launch::kCudaGraph : describe::Launch::kCompiled;
  reader.fact("compile",
              std::string(describe::word_of<describe::Launch>(describe::kLaunchWords, at.launch)),
              kDynamoBackend);
}

void read_mixed(SettingReader& reader, describe::Layout& at) {
  const auto mixed = reader.word<describe::Precision>(kMixed, kMixedWords);
  at.precision = mixed.value_or(describe::Precision::kFp32);
  reader.fact(
      "precision",
      std::string(describe::word_of<describe::Precision>(describe::kPrecisionWords, at.precision)),
      kMixed);
}

Reading read_accelerate_layout(const Settings& settings) {
  Reading reading;
  reading.dialect = Dialect::kAccelerate;
  reading.unresolved = settings.unresolved;
  SettingReader reader(settings, reading);
  read_processes(reader, reading);
  read_mixed(reader, reading.layout);
  const Engine engine = read_engine(reader, reading);
  accelerate::read_engine_settings(engine, reader, reading);
  const bool said = std::any_of(reading.facts.begin(), reading.facts.end(),
                                [](const Fact& fact) { return fact.field == "zero"; });
  if (engine == Engine::kFsdp && !said) {  // what FSDP does where no strategy is named
    reader.fact("zero", std::to_string(static_cast<int>(reading.layout.zero)), kDistributedType);
  }
  read_dynamo(reader, reading.layout);
  const KnownKeys known = accelerate_keys();
  for (const Setting& setting : settings.given) {
    if (!is_known(setting.key, known)) {
      reading.unknown.push_back({setting.key, setting.place});
    }
  }
  return reading;
}

}  // namespace

// Tables whose keys are all known, and the single keys beside them.
KnownKeys accelerate_keys() {
  static constexpr std::array<std::string_view, 9> kTables{"fsdp_config",
                                                           "deepspeed_config",
                                                           "megatron_lm_config",
                                                           "parallelism_config",
                                                           "dynamo_config",
                                                           "fp8_config",
                                                           "tpu_env",
                                                           "mpirun_config",
                                                           "ipex_config"};
  static constexpr std::array<std::string_view, 27> kKeys{"compute_environment",
                                                          "debug",
                                                          "distributed_type",
                                                          "downcast_bf16",
                                                          "enable_cpu_affinity",
                                                          "gpu_ids",
                                                          "machine_rank",
                                                          "main_process_ip",
                                                          "main_process_port",
                                                          "mixed_precision",
                                                          "main_training_function",
                                                          "num_machines",
                                                          "num_processes",
                                                          "rdzv_backend",
                                                          "same_network",
                                                          "tpu_use_cluster",
                                                          "tpu_use_sudo",
                                                          "use_cpu",
                                                          "deepspeed_hostfile",
                                                          "commands",
                                                          "command_file",
                                                          "tpu_name",
                                                          "tpu_zone",
                                                          "tpu_vm",
                                                          "tp_size",
                                                          "log_dir",
                                                          "num_cpu_threads_per_process"};
  return {{kKeys.begin(), kKeys.end()}, {kTables.begin(), kTables.end()}};
}

Writing write_accelerate(const describe::Job& given) {
  describe::Job job = given;
  job.layout = canonical_layout(given);
  Writing writing;
  writing.settings.dialect = Dialect::kAccelerate;
  const Engine engine = engine_for(job);
  SettingWriter out;
  write_common(job, engine, out);
  accelerate::write_engine_settings(engine, job, out);
  writing.settings.given = std::move(out).take();
  writing.settings.launch = launch_settings(job);
  writing.left_out =
      left_out_of(job.layout, read_accelerate_layout(writing.settings).layout, kAccelerateReasons);
  constexpr std::string_view kScript = "the training script sets it";
  writing.left_out.push_back({"model", job.model.name, std::string(kScript)});
  writing.left_out.push_back({"seq", std::to_string(job.sequences.length), std::string(kScript)});
  writing.left_out.push_back({"gbs", std::to_string(job.global_batch), std::string(kScript)});
  return writing;
}

Reading read_accelerate(const Settings& settings, const describe::DataStore& /*data*/) {
  return read_accelerate_layout(settings);
}

}  // namespace sextant::emit
