// What runs on a device: recompute, formats, compilation, loss, dispatcher, and what overlaps.
//
// Formats: parameters, gradients and moments are kept in training.dtype and updated in place; the
// products run in mixed_precision_param, or in what a converter makes of the linear layers.
// CUDA graphs are on in main unless disabled, and refused with a pipeline and with expert
// parallelism (but for dispatchers that never wait for the host).
// Source: torchtitan b5bcd76c6, config/configs.py, trainer.py,
// distributed/activation_checkpoint.py; 0.2.2, config/job_config.py.
#include <algorithm>
#include <array>

#include "describe/layout/framework_defaults.h"
#include "describe/layout/layout_text.h"
#include "emit/torchtitan_parts.h"

namespace sextant::emit::torchtitan {
namespace {

constexpr std::string_view kCheckpoint = "activation_checkpoint";
constexpr std::string_view kCheckpointMode = "activation_checkpoint.mode";
constexpr std::string_view kSelectiveOption = "activation_checkpoint.selective_ac_option";
constexpr std::string_view kCpuOffload = "training.enable_cpu_offload";
constexpr std::string_view kStorage = "training.dtype";
constexpr std::string_view kMixedParam = "training.mixed_precision_param";
constexpr std::string_view kMixedReduce = "training.mixed_precision_reduce";
constexpr std::string_view kNoGraphs = "training.disable_cuda_graphs";
constexpr std::string_view kConverters = "model.converters";
constexpr std::string_view kOldConverters = "model_converters.converters";
constexpr std::string_view kCompile = "compile.enable";
constexpr std::string_view kComponents = "compile.components";
constexpr std::string_view kLoss = "loss";
constexpr std::string_view kAttentionBackend = "model.attn_backend";
constexpr std::string_view kOptimizerName = "optimizer.name";
constexpr std::string_view kExpertOverlap = "parallelism.pipeline_parallel_expert_parallel_overlap";

constexpr std::string_view async_tp_key(Edition edition) {
  return edition == Edition::kMain ? "compile.enable_async_tensor_parallel"
                                   : "parallelism.enable_async_tensor_parallel";
}
constexpr std::string_view dispatcher_key(Edition edition) {
  return edition == Edition::kMain ? "model.moe_comm_backend"
                                   : "parallelism.expert_parallel_comm_backend";
}

constexpr std::array<describe::Word<describe::Storage>, 2> kTorchTypes{
    {{describe::Storage::kFp32, "float32"}, {describe::Storage::kBf16, "bfloat16"}}};

// main names classes, 0.2.2 names sections (and, before that, short words).
struct Converter {
  describe::Precision precision;
  std::string_view main;
  std::string_view toml;
};
constexpr std::array kConverterWords{
    Converter{describe::Precision::kFp8, "Float8LinearConverter", "quantize.linear.float8"},
    Converter{describe::Precision::kMxfp8, "MXFP8LinearConverter", "quantize.linear.mx"},
    Converter{describe::Precision::kNvfp4, "NVFP4LinearConverter", ""},
    Converter{describe::Precision::kFp8, "", "float8"},
    Converter{describe::Precision::kMxfp8, "", "mx"},
};

// The third and fourth never wait for the host, which CUDA graphs need.
constexpr std::array<describe::Word<describe::Dispatcher>, 5> kDispatcherBackendWords{
    {{describe::Dispatcher::kAllToAll, "standard"},
     {describe::Dispatcher::kDeepEp, "deepep"},
     {describe::Dispatcher::kDeepEp, "hybridep"},
     {describe::Dispatcher::kAllToAll, "minimal_async_ep"},
     {describe::Dispatcher::kAllToAll, "torchao"}}};
bool never_waits(std::string_view backend) {
  return backend == "hybridep" || backend == "minimal_async_ep";
}

describe::RecomputePolicy selective(describe::RecomputeModule module) {
  describe::RecomputePolicy policy;
  policy.granularity = describe::Recompute::kSelective;
  policy.modules = {module};
  return policy;
}
describe::RecomputePolicy full() {
  describe::RecomputePolicy policy;
  policy.granularity = describe::Recompute::kFull;
  return policy;
}

void write_checkpointing(const describe::Layout& at, Edition edition,
                         std::vector<Setting>& settings) {
  const describe::Recompute granularity = at.recompute.granularity;
  if (edition == Edition::kMain) {
    constexpr std::array<describe::Word<describe::Recompute>, 3> kClasses{
        {{describe::Recompute::kNone, "None"},
         {describe::Recompute::kSelective, "SelectiveAC"},
         {describe::Recompute::kFull, "FullAC"}}};
    add(settings, kCheckpoint,
        std::string(describe::word_of<describe::Recompute>(kClasses, granularity)));
    return;
  }
  add(settings, kCheckpointMode,
      std::string(describe::word_of<describe::Recompute>(describe::kRecomputeWords, granularity)));
  if (granularity == describe::Recompute::kSelective) {
    const bool layers = at.recompute == selective(describe::RecomputeModule::kEverySecondLayer);
    add(settings, kSelectiveOption, std::string(layers ? "2" : "op"));
  }
}

// A budget of memory decides operator by operator: there is no word for it.
void unresolved_budget(SettingReader& reader, std::string_view key) {
  reader.unresolved(key, "a memory budget is resolved by the compiler; read as selective");
}

describe::RecomputePolicy read_mode(SettingReader& reader, Edition edition) {
  const std::string mode = reader.text(kCheckpointMode).value_or("selective");
  if (mode == "none") {
    return {};
  }
  if (mode == "full") {
    return full();
  }
  if (mode != "selective") {
    unresolved_budget(reader, kCheckpointMode);
    return selective(describe::RecomputeModule::kEverySecondProduct);
  }
  // 0.2.2: "2" unless said otherwise, every second layer; "op": every second matrix product. main
  // knows the latter alone.
  const std::string option =
      reader.text(kSelectiveOption).value_or(edition == Edition::kToml ? "2" : "op");
  if (option == "op") {
    return selective(describe::RecomputeModule::kEverySecondProduct);
  }
  if (option == "1") {
    return full();
  }
  if (option != "2") {
    reader.unresolved(kSelectiveOption, "only every layer, every second one and \"op\" are known");
  }
  return selective(describe::RecomputeModule::kEverySecondLayer);
}

void read_checkpointing(SettingReader& reader, Draft& draft) {
  describe::Layout& at = draft.reading.layout;
  const Setting* setting = reader.find(kCheckpoint);
  std::string_view key = kCheckpointMode;
  if (setting != nullptr && setting->values.size() == 1) {
    key = kCheckpoint;
    const std::string& name = setting->values[0];
    if (name == "FullAC") {
      at.recompute = full();
    } else if (name != "None") {
      at.recompute = selective(describe::RecomputeModule::kEverySecondProduct);
      if (name != "SelectiveAC") {
        unresolved_budget(reader, kCheckpoint);
      }
    }
  } else {
    at.recompute = read_mode(reader, draft.edition);
  }
  const auto values = describe::layout_values(at);
  const auto found = std::find_if(values.begin(), values.end(),
                                  [](const auto& value) { return value.first == "recompute"; });
  reader.fact("recompute", found->second, key);
}

void write_torchtitan_formats(const describe::Layout& at, Edition edition,
                              std::vector<Setting>& settings) {
  const bool pure =
      at.parameters == describe::Storage::kBf16 && at.optimizer.master == describe::Storage::kNone;
  const describe::Storage storage = pure ? describe::Storage::kBf16 : describe::Storage::kFp32;
  const bool exact =
      at.precision == describe::Precision::kFp32 || at.precision == describe::Precision::kTf32;
  const auto type = [](describe::Storage format) {
    return std::string(describe::word_of<describe::Storage>(kTorchTypes, format));
  };
  add(settings, kStorage, type(storage));
  add(settings, kMixedParam, type(exact ? describe::Storage::kFp32 : describe::Storage::kBf16));
  const bool narrow =
      edition == Edition::kMain && !pure && at.gradients == describe::Storage::kBf16;
  add(settings, kMixedReduce, type(narrow ? describe::Storage::kBf16 : describe::Storage::kFp32));
  for (const Converter& converter : kConverterWords) {
    const std::string_view name = edition == Edition::kMain ? converter.main : converter.toml;
    if (converter.precision == at.precision && !name.empty()) {
      add(settings, kConverters, std::string(name));
      break;
    }
  }
  if (at.optimizer.offload && at.zero != describe::Zero::kNone) {
    add_flag(settings, kCpuOffload, true);
  }
}

void read_converters(SettingReader& reader, describe::Layout& at) {
  const std::string_view key = reader.find(kConverters) != nullptr ? kConverters : kOldConverters;
  const Setting* setting = reader.find(key);
  if (setting == nullptr) {
    return;
  }
  for (const std::string& value : setting->values) {
    const auto* const found = std::find_if(
        kConverterWords.begin(), kConverterWords.end(),
        [&](const Converter& word) { return value == word.main || value == word.toml; });
    if (found != kConverterWords.end()) {
      at.precision = found->precision;
      reader.fact("precision",
                  std::string(describe::word_of<describe::Precision>(describe::kPrecisionWords,
                                                                     at.precision)),
                  key);
    } else if (value.find("LoRA") != std::string::npos) {
      reader.unresolved(key, "low-rank adapters are not part of a layout");
    }
  }
}

void read_torchtitan_formats(SettingReader& reader, Draft& draft) {
  describe::Layout& at = draft.reading.layout;
  const describe::Storage kept =
      reader.word<describe::Storage>(kStorage, kTorchTypes).value_or(describe::Storage::kFp32);
  const describe::Storage compute =
      reader.word<describe::Storage>(kMixedParam, kTorchTypes).value_or(describe::Storage::kBf16);
  const describe::Storage reduce =
      reader.word<describe::Storage>(kMixedReduce, kTorchTypes).value_or(describe::Storage::kFp32);
  at.parameters = kept;
  at.gradients = kept == describe::Storage::kBf16 ? kept : reduce;
  at.optimizer = describe::default_optimizer(describe::OptimizerKind::kAdam);
  at.optimizer.master = describe::Storage::kNone;
  at.optimizer.first_moment = kept;
  at.optimizer.second_moment = kept;
  at.optimizer.offload =
      at.zero == describe::Zero::kParameters && reader.flag(kCpuOffload).value_or(false);
  at.precision =
      compute == describe::Storage::kFp32 ? describe::Precision::kFp32 : describe::Precision::kBf16;
  const std::string type(describe::word_of<describe::Storage>(describe::kStorageWords, kept));
  reader.fact("parameters", type, kStorage);
  reader.fact(
      "precision",
      std::string(describe::word_of<describe::Precision>(describe::kPrecisionWords, at.precision)),
      kMixedParam);
  reader.fact(
      "gradients",
      std::string(describe::word_of<describe::Storage>(describe::kStorageWords, at.gradients)),
      kMixedReduce);
  reader.fact("optimizer", at.optimizer.offload ? "offload" : "no offload", kCpuOffload);
  read_converters(reader, at);
  const auto name = reader.text(kOptimizerName);
  if (name && *name != "AdamW" && *name != "Adam") {
    reader.unresolved(kOptimizerName, "only Adam and AdamW are known here");
  }
}

bool runs_graphs(const describe::Layout& at, bool host_free) {
  return at.pp == 1 && (at.ep == 1 || host_free);
}

void write_launch(const describe::Layout& at, Edition edition, std::vector<Setting>& settings) {
  const bool main = edition == Edition::kMain;
  const bool graphs = main && at.launch == describe::Launch::kCudaGraph && runs_graphs(at, false);
  const bool wants_async = at.overlaps(describe::Overlap::kTensorParallel) && at.tp > 1;
  const bool compiled = at.launch == describe::Launch::kCompiled || (graphs && wants_async);
  const bool fused = at.loss == describe::LossKernel::kFused;
  if (main) {
    add_flag(settings, kNoGraphs, !graphs);
    add(settings, kLoss,
        std::string(at.loss == describe::LossKernel::kChunked ? "ChunkedLossWrapper"
                                                              : "CrossEntropyLoss"));
  }
  add_flag(settings, kCompile, compiled || fused);
  if (compiled || fused) {
    Setting components{std::string(kComponents), {}, {}};
    if (compiled) {
      components.values.emplace_back("model");
    }
    if (fused) {
      components.values.emplace_back("loss");
    }
    settings.push_back(std::move(components));
  }
  if (wants_async && compiled) {
    add_flag(settings, async_tp_key(edition), true);
  }
}

// Which of the two compiled parts are on.
struct Compiled {
  bool model = false;
  bool loss = false;
};

Compiled read_compiled(SettingReader& reader) {
  if (!reader.flag(kCompile).value_or(false)) {
    return {};
  }
  const Setting* components = reader.find(kComponents);
  if (components == nullptr) {
    return {true, true};
  }
  const auto has = [&](std::string_view part) {
    return std::find(components->values.begin(), components->values.end(), part) !=
           components->values.end();
  };
  return {has("model"), has("loss")};
}

void read_launch(SettingReader& reader, Draft& draft) {
  describe::Layout& at = draft.reading.layout;
  const Compiled compiled = read_compiled(reader);
  at.launch = compiled.model ? describe::Launch::kCompiled : describe::Launch::kEager;
  if (draft.edition == Edition::kMain && !reader.flag(kNoGraphs).value_or(false)) {
    if (runs_graphs(at, never_waits(reader.text(dispatcher_key(draft.edition)).value_or("")))) {
      at.launch = describe::Launch::kCudaGraph;
    } else {
      reader.unresolved(kNoGraphs,
                        "CUDA graphs are on by default, and torchtitan refuses them with "
                        "this pipeline or expert parallelism; read as off");
    }
    reader.fact("compile",
                std::string(describe::word_of<describe::Launch>(describe::kLaunchWords, at.launch)),
                kNoGraphs);
  }
  reader.fact("compile",
              std::string(describe::word_of<describe::Launch>(describe::kLaunchWords, at.launch)),
              kCompile);
  at.loss = compiled.loss ? describe::LossKernel::kFused : describe::LossKernel::kPlain;
  const auto loss = reader.text(kLoss);
  if (loss && loss->starts_with("Chunked")) {
    at.loss = describe::LossKernel::kChunked;
  }
  reader.fact(
      "loss",
      std::string(describe::word_of<describe::LossKernel>(describe::kLossKernelWords, at.loss)),
      kLoss);
}

// DualPipeV hides the experts' exchange; 0.2.2 can switch that off.
bool hides_experts(const describe::Layout& at, bool said) {
  return at.schedule == describe::Schedule::kDualPipeV && at.pp > 1 && at.ep > 1 && said;
}

void read_torchtitan_overlap(SettingReader& reader, Draft& draft) {
  describe::Layout& at = draft.reading.layout;
  const bool several = at.dp == 0 || at.dp > 1 || at.cp > 1;
  at.overlap.clear();
  if (several) {
    at.overlap.push_back(describe::Overlap::kGradReduce);
    if (at.zero == describe::Zero::kParameters) {
      at.overlap.push_back(describe::Overlap::kParamGather);
    }
  }
  const std::string_view key = async_tp_key(draft.edition);
  if (at.tp > 1 && reader.flag(key).value_or(false) && read_compiled(reader).model) {
    at.overlap.push_back(describe::Overlap::kTensorParallel);
    reader.fact("overlap", "tp", key);
  }
  const bool old = draft.edition == Edition::kToml;
  if (hides_experts(at, !old || reader.flag(kExpertOverlap).value_or(true))) {
    at.overlap.push_back(describe::Overlap::kExpert);
  }
}

}  // namespace

void write_kernels(const describe::Job& job, Edition edition, std::vector<Setting>& settings) {
  const describe::Layout& at = job.layout;
  write_checkpointing(at, edition, settings);
  write_torchtitan_formats(at, edition, settings);
  write_launch(at, edition, settings);
  if (at.dispatcher == describe::Dispatcher::kDeepEp) {
    add(settings, dispatcher_key(edition), std::string("deepep"));
  }
  if (edition == Edition::kMain && at.cp > 1) {
    // Context parallelism runs with FlexAttention only.
    add(settings, kAttentionBackend, std::string("flex"));
  }
  if (edition == Edition::kToml && hides_experts(at, true)) {
    add_flag(settings, kExpertOverlap, at.overlaps(describe::Overlap::kExpert));
  }
}

void read_kernels(SettingReader& reader, Draft& draft) {
  describe::Layout& at = draft.reading.layout;
  read_checkpointing(reader, draft);
  read_torchtitan_formats(reader, draft);
  const std::string_view key = dispatcher_key(draft.edition);
  if (const auto backend = reader.word<describe::Dispatcher>(key, kDispatcherBackendWords)) {
    at.dispatcher = *backend;
    reader.fact(
        "dispatcher",
        std::string(describe::word_of<describe::Dispatcher>(describe::kDispatcherWords, *backend)),
        key);
  }
  read_launch(reader, draft);
  read_torchtitan_overlap(reader, draft);
}

}  // namespace sextant::emit::torchtitan
