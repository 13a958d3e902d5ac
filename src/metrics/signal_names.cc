#include "metrics/signal_names.h"

#include <algorithm>
#include <array>
#include <string>

namespace sextant::metrics {
namespace {

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <typename Names>
bool is_among(std::string_view name, const Names& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <typename Parts>
bool holds_any(std::string_view text, const Parts& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return holds(text, part); });
}

// Nsight Systems and the driver add versions: cudaMalloc_v3020, cuMemFree_v2.
std::string_view stem_of(std::string_view call) {
  return call.substr(0, call.find("_v"));
}

std::string in_lower_case(std::string_view name) {
  std::string lower(name);
  for (char& letter : lower) {
    letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return lower;
}

// Of "/a/b/train.py(12): step" and "$train.py:12 step".
struct Frame {
  std::string_view file;      // "train.py"
  std::string_view function;  // "step"
};

Frame frame_of(std::string_view name) {
  const std::size_t file_end = name.find(".py");
  if (file_end == std::string_view::npos) {
    return {{}, name};
  }
  std::string_view file = name.substr(0, file_end + 3);
  if (const std::size_t slash = file.find_last_of("/\\$"); slash != std::string_view::npos) {
    file.remove_prefix(slash + 1);
  }
  const std::size_t space = name.find(' ', file_end);
  return {file, space == std::string_view::npos ? std::string_view() : name.substr(space + 1)};
}

// What people and frameworks call the fetching of a batch: PyTorch's loaders, Megatron-LM's
// "batch-generator" timers and get_batch, torchrec's "## wait_for_batch ##", TensorFlow's iterator.
constexpr std::array<std::string_view, 21> kDataWords{
    "dataloader",     "data_loader",   "data-loader",     "get_batch",       "getbatch",
    "next_batch",     "load_batch",    "batch_generator", "batch-generator", "wait_for_batch",
    "training_batch", "data_iterator", "data_load",       "data loading",    "dataloading",
    "load_data",      "loading data",  "fetch_batch",     "fetch_data",      "infeed",
    "iteratorgetnext"};
constexpr std::array<std::string_view, 6> kDataNames{"data",       "batch",    "fetch",
                                                     "data fetch", "get data", "input pipeline"};
constexpr std::array<std::string_view, 13> kSaveWords{
    "save_checkpoint",  "checkpoint_save", "checkpoint save", "saving checkpoint",
    "write_checkpoint", "torch.save",      "save_state_dict", "save_pretrained",
    "dcp.save",         "dcp_save",        "async_save",      "checkpoint_manager.save",
    "checkpointer.save"};

bool is_data_frame(const Frame& frame, std::string_view function) {
  constexpr std::array<std::string_view, 3> kFiles{"dataloader.py", "data_loader.py", "fetch.py"};
  constexpr std::array<std::string_view, 4> kNext{"next", "fetch", "get", "load"};
  return holds_any(function, kDataWords) ||
         (is_among(frame.file, kFiles) && holds_any(function, kNext));
}

std::optional<Signal> signal_of_frame(std::string_view name) {
  const Frame frame = frame_of(name);
  const std::string function = in_lower_case(frame.function);
  if (holds(function, "gc.collect") || function == "<built-in function collect>" ||
      function == "gc collect") {
    return Signal::kCollection;
  }
  if (holds(function, "block_until_ready")) {
    return Signal::kSync;
  }
  if (is_data_frame(frame, function)) {
    return Signal::kData;
  }
  constexpr std::array<std::string_view, 3> kCompilers{"convert_frame.py", "compile_fx.py",
                                                       "pxla.py"};
  if (is_among(frame.file, kCompilers) && holds(function, "compile")) {
    return Signal::kCompilation;
  }
  if ((frame.file == "serialization.py" && (function == "save" || function == "_save")) ||
      holds_any(function, kSaveWords)) {
    return Signal::kSave;
  }
  return std::nullopt;
}

// Kineto's own. Source: pytorch/kineto, libkineto, CuptiActivity (overheadKindString).
bool is_recorder(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames{
      "Activity Buffer Request", "Buffer Flush",
      "Instrumentation",         "Resource",
      "CUPTI_OVERHEAD",          "Runtime Triggered Module Loading"};
  return is_among(name, kNames);
}

// torch._dynamo times its phases as "… (dynamo_timed)"; what runs a compiled program names it
// "CompiledFunction", "Torch-Compiled Region". "Lazy Function Loading" is CUPTI's word for kernels
// that are loaded at their first launch, which modules of a driver call begin.
bool is_compiler(std::string_view name) {
  constexpr std::array<std::string_view, 8> kWords{
      "(dynamo_timed)", "Compile",       "_compile",        "cuModuleLoad",
      "cuLibraryLoad",  "hipModuleLoad", "cudaLibraryLoad", "Lazy Function Loading"};
  return holds_any(name, kWords) && !holds(name, "Compiled");
}

}  // namespace

bool is_frame(std::string_view name) {
  return name.starts_with("<") || name.starts_with("$") || name.starts_with("nn.Module: ") ||
         holds(name, ".py(");
}

bool is_outline(std::string_view name) {
  return name.starts_with("ProfilerStep#") || name.starts_with("Optimizer.") ||
         name.starts_with("DistributedDataParallel.");
}

bool is_update(std::string_view name) {
  return name.starts_with("Optimizer.step#") || name.starts_with("aten::_fused_adam") ||
         holds(name, "CPUAdam") || holds(name, "cpu_adam");
}

std::optional<Signal> signal_of_name(std::string_view name) {
  if (name == "Python GC") {  // torch.profiler's, with record_python_gc_info
    return Signal::kCollection;
  }
  if (is_frame(name)) {
    return signal_of_frame(name);
  }
  if (is_outline(name) || name.starts_with("aten::")) {
    return std::nullopt;
  }
  if (is_recorder(name)) {
    return Signal::kRecorder;
  }
  if (is_compiler(name)) {
    return Signal::kCompilation;
  }
  if (is_release(name) || is_request(name)) {
    return Signal::kAllocation;
  }
  constexpr std::array<std::string_view, 3> kWaits{"BlockHostUntilReady", "block_until_ready",
                                                   "BlockUntilReady"};
  if (holds_any(name, kWaits)) {
    return Signal::kSync;
  }
  const std::string lower = in_lower_case(name);
  if (holds_any(lower, kSaveWords)) {
    return Signal::kSave;
  }
  if (holds_any(lower, kDataWords) || is_among(lower, kDataNames)) {
    return Signal::kData;
  }
  return std::nullopt;
}

bool is_reading(std::string_view name) {
  constexpr std::array<std::string_view, 9> kReading{
      "aten::item",          "aten::_local_scalar_dense",
      "aten::is_nonzero",    "aten::nonzero",
      "aten::masked_select", "aten::equal",
      "aten::unique",        "aten::_unique2",
      "aten::allclose"};
  return is_among(name, kReading);
}

bool is_copying(std::string_view name) {
  constexpr std::array<std::string_view, 5> kCopying{"aten::to", "aten::_to_copy", "aten::copy_",
                                                     "aten::cpu", "aten::cuda"};
  return is_among(name, kCopying);
}

bool is_release(std::string_view call) {
  constexpr std::array<std::string_view, 11> kCalls{
      "cudaFree",     "cudaFreeHost",  "hipFree",     "hipHostFree",   "cuMemFree",  "cuMemUnmap",
      "cuMemRelease", "cuMemFreeHost", "hipMemUnmap", "hipMemRelease", "hipFreeHost"};
  return is_among(stem_of(call), kCalls);
}

bool is_request(std::string_view call) {
  constexpr std::array<std::string_view, 15> kCalls{
      "cudaMalloc",        "cudaHostAlloc", "cudaMallocHost", "cudaHostRegister",
      "cudaMallocManaged", "hipMalloc",     "hipHostMalloc",  "hipExtMallocWithFlags",
      "cuMemAlloc",        "cuMemCreate",   "cuMemMap",       "cuMemSetAccess",
      "cuMemHostAlloc",    "hipMemCreate",  "hipMemMap"};
  return is_among(stem_of(call), kCalls);
}

}  // namespace sextant::metrics
