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

using namespace describe;  // NOLINT(google-build-using-namespace)

constexpr std::string_view kCheckpoint = "activation_checkpoint";
constexpr std::string_view kCheckpointMode = "activation_checkpoint.mode";
constexpr std::string_view kSelectiveOption = "activation_checkpoint.selective_ac_option";
constexpr std::string_view kOffload = "training.enable_cpu_offload";
constexpr std::string_view kStorage = "training.dtype";
constexpr std::string_view kCompute = "training.mixed_precision_param";
constexpr std::string_view kReduce = "training.mixed_precision_reduce";
constexpr std::string_view kNoGraphs = "training.disable_cuda_graphs";
constexpr std::string_view kConverters = "model.converters";
constexpr std::string_view kOldConverters = "model_converters.converters";
constexpr std::string_view kCompile = "compile.enable";
constexpr std::string_view kComponents = "compile.components";
constexpr std::string_view kLoss = "loss";
constexpr std::string_view kAttention = "model.attn_backend";
constexpr std::string_view kOptimizer = "optimizer.name";
constexpr std::string_view kExpertOverlap = "parallelism.pipeline_parallel_expert_parallel_overlap";

constexpr std::string_view async_tp_key(Edition edition) {
  return edition == Edition::kMain ? "compile.enable_async_tensor_parallel"
                                   : "parallelism.enable_async_tensor_parallel";
}
constexpr std::string_view dispatcher_key(Edition edition) {
  return edition == Edition::kMain ? "model.moe_comm_backend"
                                   : "parallelism.expert_parallel_comm_backend";
}

constexpr std::array<Word<Storage>, 2> kTorchTypes{
    {{Storage::kFp32, "float32"}, {Storage::kBf16, "bfloat16"}}};

// main names classes, 0.2.2 names sections (and, before that, short words).
struct Converter {
  Precision precision;
  std::string_view main;
  std::string_view toml;
};
constexpr std::array kConverterWords{
    Converter{Precision::kFp8, "Float8LinearConverter", "quantize.linear.float8"},
    Converter{Precision::kMxfp8, "MXFP8LinearConverter", "quantize.linear.mx"},
    Converter{Precision::kNvfp4, "NVFP4LinearConverter", ""},
    Converter{Precision::kFp8, "", "float8"},
    Converter{Precision::kMxfp8, "", "mx"},
};

// The third and fourth never wait for the host, which CUDA graphs need.
constexpr std::array<Word<Dispatcher>, 5> kBackendWords{
    {{Dispatcher::kAllToAll, "standard"},
     {Dispatcher::kDeepEp, "deepep"},
     {Dispatcher::kDeepEp, "hybridep"},
     {Dispatcher::kAllToAll, "minimal_async_ep"},
     {Dispatcher::kAllToAll, "torchao"}}};
bool never_waits(std::string_view backend) {
  return backend == "hybridep" || backend == "minimal_async_ep";
}

RecomputePolicy selective(RecomputeModule module) {
  RecomputePolicy policy;
  policy.granularity = Recompute::kSelective;
  policy.modules = {module};
  return policy;
}
RecomputePolicy full() {
  RecomputePolicy policy;
  policy.granularity = Recompute::kFull;
  return policy;
}

void write_recompute(const Layout& at, Edition edition, std::vector<Setting>& settings) {
  const Recompute granularity = at.recompute.granularity;
  if (edition == Edition::kMain) {
    constexpr std::array<Word<Recompute>, 3> kClasses{{{Recompute::kNone, "None"},
                                                       {Recompute::kSelective, "SelectiveAC"},
                                                       {Recompute::kFull, "FullAC"}}};
    add(settings, kCheckpoint, std::string(word_of<Recompute>(kClasses, granularity)));
    return;
  }
  add(settings, kCheckpointMode, std::string(word_of<Recompute>(kRecomputeWords, granularity)));
  if (granularity == Recompute::kSelective) {
    const bool layers = at.recompute == selective(RecomputeModule::kEverySecondLayer);
    add(settings, kSelectiveOption, std::string(layers ? "2" : "op"));
  }
}

// A budget of memory decides operator by operator: there is no word for it.
void unresolved_budget(SettingReader& reader, std::string_view key) {
  reader.unresolved(key, "a memory budget is resolved by the compiler; read as selective");
}

RecomputePolicy read_mode(SettingReader& reader, Edition edition) {
  const std::string mode = reader.text(kCheckpointMode).value_or("selective");
  if (mode == "none") {
    return {};
  }
  if (mode == "full") {
    return full();
  }
  if (mode != "selective") {
    unresolved_budget(reader, kCheckpointMode);
    return selective(RecomputeModule::kEverySecondProduct);
  }
  // 0.2.2: "2" unless said otherwise, every second layer; "op": every second matrix product. main
  // knows the latter alone.
  const std::string option =
      reader.text(kSelectiveOption).value_or(edition == Edition::kToml ? "2" : "op");
  if (option == "op") {
    return selective(RecomputeModule::kEverySecondProduct);
  }
  if (option == "1") {
    return full();
  }
  if (option != "2") {
    reader.unresolved(kSelectiveOption, "only every layer, every second one and \"op\" are known");
  }
  return selective(RecomputeModule::kEverySecondLayer);
}

void read_recompute(SettingReader& reader, Draft& draft) {
  Layout& at = draft.reading.layout;
  const Setting* setting = reader.find(kCheckpoint);
  std::string_view key = kCheckpointMode;
  if (setting != nullptr && setting->values.size() == 1) {
    key = kCheckpoint;
    const std::string& name = setting->values[0];
    if (name == "FullAC") {
      at.recompute = full();
    } else if (name != "None") {
      at.recompute = selective(RecomputeModule::kEverySecondProduct);
      if (name != "SelectiveAC") {
        unresolved_budget(reader, kCheckpoint);
      }
    }
  } else {
    at.recompute = read_mode(reader, draft.edition);
  }
  const auto values = layout_values(at);
  const auto found = std::find_if(values.begin(), values.end(),
                                  [](const auto& value) { return value.first == "recompute"; });
  reader.fact("recompute", found->second, key);
}

void write_formats(const Layout& at, Edition edition, std::vector<Setting>& settings) {
  const bool pure = at.parameters == Storage::kBf16 && at.optimizer.master == Storage::kNone;
  const Storage storage = pure ? Storage::kBf16 : Storage::kFp32;
  const bool exact = at.precision == Precision::kFp32 || at.precision == Precision::kTf32;
  const auto type = [](Storage format) {
    return std::string(word_of<Storage>(kTorchTypes, format));
  };
  add(settings, kStorage, type(storage));
  add(settings, kCompute, type(exact ? Storage::kFp32 : Storage::kBf16));
  const bool narrow = edition == Edition::kMain && !pure && at.gradients == Storage::kBf16;
  add(settings, kReduce, type(narrow ? Storage::kBf16 : Storage::kFp32));
  for (const Converter& converter : kConverterWords) {
    const std::string_view name = edition == Edition::kMain ? converter.main : converter.toml;
    if (converter.precision == at.precision && !name.empty()) {
      add(settings, kConverters, std::string(name));
      break;
    }
  }
  if (at.optimizer.offload && at.zero != Zero::kNone) {
    add_flag(settings, kOffload, true);
  }
}

void read_converters(SettingReader& reader, Layout& at) {
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
      reader.fact("precision", std::string(word_of<Precision>(kPrecisionWords, at.precision)), key);
    } else if (value.find("LoRA") != std::string::npos) {
      reader.unresolved(key, "low-rank adapters are not part of a layout");
    }
  }
}

void read_formats(SettingReader& reader, Draft& draft) {
  Layout& at = draft.reading.layout;
  const Storage kept = reader.word<Storage>(kStorage, kTorchTypes).value_or(Storage::kFp32);
  const Storage compute = reader.word<Storage>(kCompute, kTorchTypes).value_or(Storage::kBf16);
  const Storage reduce = reader.word<Storage>(kReduce, kTorchTypes).value_or(Storage::kFp32);
  at.parameters = kept;
  at.gradients = kept == Storage::kBf16 ? kept : reduce;
  at.optimizer = default_optimizer(OptimizerKind::kAdam);
  at.optimizer.master = Storage::kNone;
  at.optimizer.first_moment = kept;
  at.optimizer.second_moment = kept;
  at.optimizer.offload = at.zero == Zero::kParameters && reader.flag(kOffload).value_or(false);
  at.precision = compute == Storage::kFp32 ? Precision::kFp32 : Precision::kBf16;
  const std::string type(word_of<Storage>(kStorageWords, kept));
  reader.fact("parameters", type, kStorage);
  reader.fact("precision", std::string(word_of<Precision>(kPrecisionWords, at.precision)),
              kCompute);
  reader.fact("gradients", std::string(word_of<Storage>(kStorageWords, at.gradients)), kReduce);
  reader.fact("optimizer", at.optimizer.offload ? "offload" : "no offload", kOffload);
  read_converters(reader, at);
  const auto name = reader.text(kOptimizer);
  if (name && *name != "AdamW" && *name != "Adam") {
    reader.unresolved(kOptimizer, "only Adam and AdamW are known here");
  }
}

bool runs_graphs(const Layout& at, bool host_free) {
  return at.pp == 1 && (at.ep == 1 || host_free);
}

void write_launch(const Layout& at, Edition edition, std::vector<Setting>& settings) {
  const bool main = edition == Edition::kMain;
  const bool graphs = main && at.launch == Launch::kCudaGraph && runs_graphs(at, false);
  const bool wants_async = at.overlaps(Overlap::kTensorParallel) && at.tp > 1;
  const bool compiled = at.launch == Launch::kCompiled || (graphs && wants_async);
  const bool fused = at.loss == LossKernel::kFused;
  if (main) {
    add_flag(settings, kNoGraphs, !graphs);
    add(settings, kLoss,
        std::string(at.loss == LossKernel::kChunked ? "ChunkedLossWrapper" : "CrossEntropyLoss"));
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
  Layout& at = draft.reading.layout;
  const Compiled compiled = read_compiled(reader);
  at.launch = compiled.model ? Launch::kCompiled : Launch::kEager;
  if (draft.edition == Edition::kMain && !reader.flag(kNoGraphs).value_or(false)) {
    if (runs_graphs(at, never_waits(reader.text(dispatcher_key(draft.edition)).value_or("")))) {
      at.launch = Launch::kCudaGraph;
    } else {
      reader.unresolved(kNoGraphs,
                        "CUDA graphs are on by default, and torchtitan refuses them with "
                        "this pipeline or expert parallelism; read as off");
    }
    reader.fact("compile", std::string(word_of<Launch>(kLaunchWords, at.launch)), kNoGraphs);
  }
  reader.fact("compile", std::string(word_of<Launch>(kLaunchWords, at.launch)), kCompile);
  at.loss = compiled.loss ? LossKernel::kFused : LossKernel::kPlain;
  const auto loss = reader.text(kLoss);
  if (loss && loss->starts_with("Chunked")) {
    at.loss = LossKernel::kChunked;
  }
  reader.fact("loss", std::string(word_of<LossKernel>(kLossKernelWords, at.loss)), kLoss);
}

// DualPipeV hides the experts' exchange; 0.2.2 can switch that off.
bool hides_experts(const Layout& at, bool said) {
  return at.schedule == Schedule::kDualPipeV && at.pp > 1 && at.ep > 1 && said;
}

void read_overlap(SettingReader& reader, Draft& draft) {
  Layout& at = draft.reading.layout;
  const bool several = at.dp == 0 || at.dp > 1 || at.cp > 1;
  at.overlap.clear();
  if (several) {
    at.overlap.push_back(Overlap::kGradReduce);
    if (at.zero == Zero::kParameters) {
      at.overlap.push_back(Overlap::kParamGather);
    }
  }
  const std::string_view key = async_tp_key(draft.edition);
  if (at.tp > 1 && reader.flag(key).value_or(false) && read_compiled(reader).model) {
    at.overlap.push_back(Overlap::kTensorParallel);
    reader.fact("overlap", "tp", key);
  }
  const bool old = draft.edition == Edition::kToml;
  if (hides_experts(at, !old || reader.flag(kExpertOverlap).value_or(true))) {
    at.overlap.push_back(Overlap::kExpert);
  }
}

}  // namespace

void write_kernels(const Job& job, Edition edition, std::vector<Setting>& settings) {
  const Layout& at = job.layout;
  write_recompute(at, edition, settings);
  write_formats(at, edition, settings);
  write_launch(at, edition, settings);
  if (at.dispatcher == Dispatcher::kDeepEp) {
    add(settings, dispatcher_key(edition), std::string("deepep"));
  }
  if (edition == Edition::kMain && at.cp > 1) {
    // Context parallelism runs with FlexAttention only.
    add(settings, kAttention, std::string("flex"));
  }
  if (edition == Edition::kToml && hides_experts(at, true)) {
    add_flag(settings, kExpertOverlap, at.overlaps(Overlap::kExpert));
  }
}

void read_kernels(SettingReader& reader, Draft& draft) {
  Layout& at = draft.reading.layout;
  read_recompute(reader, draft);
  read_formats(reader, draft);
  const std::string_view key = dispatcher_key(draft.edition);
  if (const auto backend = reader.word<Dispatcher>(key, kBackendWords)) {
    at.dispatcher = *backend;
    reader.fact("dispatcher", std::string(word_of<Dispatcher>(kDispatcherWords, *backend)), key);
  }
  read_launch(reader, draft);
  read_overlap(reader, draft);
}

}  // namespace sextant::emit::torchtitan
