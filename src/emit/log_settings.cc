#include "emit/log_settings.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/log_text.h"

namespace sextant::emit {
namespace {

using PrintedKey = std::pair<std::string_view, std::string_view>;  // as printed, as a setting

// Degrees in "Building device mesh with parallelism: pp=1, …" (torchtitan).
constexpr std::array<PrintedKey, 7> kMeshKeys{{
    {"pp", "parallelism.pipeline_parallel_degree"},
    {"dp_replicate", "parallelism.data_parallel_replicate_degree"},
    {"dp_shard", "parallelism.data_parallel_shard_degree"},
    {"cp", "parallelism.context_parallel_degree"},
    {"tp", "parallelism.tensor_parallel_degree"},
    {"ep", "parallelism.expert_parallel_degree"},
    {"etp", "parallelism.expert_tensor_parallel_degree"},
}};
// The degrees whose product is the number of devices: those before "ep".
constexpr std::size_t kWorldDegrees = 5;

// "Trainer is initialized with …" (torchtitan 0.2 and after).
constexpr std::array<PrintedKey, 5> kTrainerKeys{{
    {"local batch size", "training.local_batch_size"},
    {"global batch size", "training.global_batch_size"},
    {"sequence length", "training.seq_len"},
    {"maximum context length", "training.max_context_length"},
    {"rank,", "training.num_tokens_per_train_step"},
}};

// "using world size: …" (Megatron).
constexpr std::array<PrintedKey, 4> kWorldKeys{{
    {"data-parallel size:", "data_parallel_size"},
    {"context-parallel size:", "context_parallel_size"},
    {"tensor-model-parallel size:", "tensor_model_parallel_size"},
    {"pipeline-model-parallel size:", "pipeline_model_parallel_size"},
}};

// Attributes that DeepSpeed prints, and the keys of its JSON.
constexpr std::array<PrintedKey, 8> kDeepspeedKeys{{
    {"train_batch_size", "train_batch_size"},
    {"train_micro_batch_size_per_gpu", "train_micro_batch_size_per_gpu"},
    {"gradient_accumulation_steps", "gradient_accumulation_steps"},
    {"zero_optimization_stage", "zero_optimization.stage"},
    {"bfloat16_enabled", "bf16.enabled"},
    {"float16_enabled", "fp16.enabled"},
    {"fp16_enabled", "fp16.enabled"},
    {"sequence_parallel_size", "sequence_parallel_size"},
}};

FoundSetting given(LogKind kind, std::string_view key, std::string value) {
  return {kind, false, std::string(key), {std::move(value)}};
}
FoundSetting launched(std::optional<LogKind> kind, std::string_view key, std::string value) {
  return {kind, true, std::string(key), {std::move(value)}};
}

bool is_printed_key(std::string_view text) {
  return !text.empty() && text.size() <= kLongestKey &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '.';
         });
}

// "name ..... value" anywhere in a line; names as long as the column, or longer, have no dots.
constexpr std::size_t kMegatronColumn = 48;
constexpr std::size_t kDeepspeedColumn = 29;
struct Dotted {
  std::string_view name;
  std::string_view value;
};
std::optional<Dotted> dotted(std::string_view line, std::size_t column) {
  std::string_view before;
  std::string_view value;
  for (std::size_t at = line.find(" ."); at != std::string_view::npos;
       at = line.find(" .", at + 1)) {
    const std::size_t end = std::min(line.find_first_not_of('.', at + 1), line.size());
    if (end == line.size() || line[end] == ' ') {
      before = line.substr(0, at);
      value = line.substr(end);
      break;
    }
  }
  if (before.empty()) {
    const std::string_view text = trimmed(line);
    const std::size_t gap = text.find("  ");
    if (gap == std::string_view::npos || gap < column) {
      return std::nullopt;
    }
    before = text.substr(0, gap);
    value = text.substr(gap);
  }
  const std::size_t space = before.rfind(' ');
  const std::string_view name = space == std::string_view::npos ? before : before.substr(space + 1);
  return is_printed_key(name) ? std::optional(Dotted{name, trimmed(value)}) : std::nullopt;
}

// --- torchtitan

std::vector<FoundSetting> mesh_line(std::string_view line) {
  std::vector<FoundSetting> found;
  std::int64_t devices = 1;
  bool whole = true;
  for (std::size_t i = 0; i < kMeshKeys.size(); ++i) {
    const auto degree = integer_after(line, fmt::format("{}=", kMeshKeys.at(i).first));
    const bool sane = degree && *degree >= 1 && *degree <= 10'000'000;
    if (sane) {
      found.push_back(given(LogKind::kTorchtitan, kMeshKeys.at(i).second, std::to_string(*degree)));
    }
    if (i < kWorldDegrees) {
      whole = whole && sane && devices <= 10'000'000;
      devices *= whole ? *degree : 1;
    }
  }
  if (whole) {
    found.push_back(launched(LogKind::kTorchtitan, "devices", std::to_string(devices)));
  }
  return found;
}

// "Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]": degrees not named are 1.
std::vector<FoundSetting> old_mesh_line(std::string_view line) {
  const std::string_view lists = text_after(line, "device mesh with").value_or("");
  const std::size_t names_end = lists.find(']');
  const std::size_t sizes = lists.find('[', std::min(names_end, lists.size()));
  const std::size_t sizes_end = lists.find(']', std::min(sizes, lists.size()));
  if (sizes_end == std::string_view::npos) {
    return {};
  }
  const auto names = printed_values(lists.substr(0, names_end + 1));
  const auto numbers = printed_values(lists.substr(sizes, sizes_end + 1 - sizes));
  if (!names || !numbers || names->size() != numbers->size()) {
    return {};
  }
  std::string written;
  for (std::size_t i = 0; i < kWorldDegrees; ++i) {
    const auto at = std::find(names->begin(), names->end(), kMeshKeys.at(i).first);
    const std::string degree =
        at == names->end() ? "1" : numbers->at(static_cast<std::size_t>(at - names->begin()));
    written += fmt::format("{}={} ", kMeshKeys.at(i).first, degree);
  }
  return mesh_line(written);
}

std::vector<FoundSetting> trainer_line(std::string_view line) {
  std::vector<FoundSetting> found;
  const std::string_view words = text_after(line, "Trainer is initialized with").value_or("");
  for (const auto& [label, key] : kTrainerKeys) {
    if (const auto number = integer_after(words, label)) {
      found.push_back(given(LogKind::kTorchtitan, key, std::to_string(*number)));
    }
  }
  return found;
}

// "Model llama3 8B size: 8,030,261,248 total parameters".
std::vector<FoundSetting> model_line(std::string_view line) {
  const std::string_view words = text_after(line, "Model ").value_or("");
  const std::size_t size = words.find(" size:");
  const std::size_t space = words.find(' ');
  if (size == std::string_view::npos || space >= size) {
    return {};
  }
  const std::string_view name = words.substr(0, space);
  const std::string_view flavor = trimmed(words.substr(space, size - space));
  if (name.size() > kLongestKey || flavor.empty() || flavor.size() > kLongestKey) {
    return {};
  }
  return {given(LogKind::kTorchtitan, "model.name", std::string(name)),
          given(LogKind::kTorchtitan, "model.flavor", std::string(flavor))};
}

// --- the others

std::vector<FoundSetting> world_line(std::string_view line) {
  std::vector<FoundSetting> found;
  const auto devices = integer_after(line, "using world size:");
  if (!devices || *devices < 1) {
    return found;
  }
  for (const auto& [label, key] : kWorldKeys) {
    if (const auto number = integer_after(line, label); number && *number >= 1) {
      found.push_back(given(LogKind::kMegatron, key, std::to_string(*number)));
    }
  }
  found.push_back(launched(LogKind::kMegatron, "devices", std::to_string(*devices)));
  return found;
}

// " > padded vocab (size: 50257) with 431 dummy tokens (new size: 50688)" (Megatron before 2022,
// Megatron-DeepSpeed).
std::vector<FoundSetting> padded_vocabulary(std::string_view line) {
  const auto entries = integer_after(line, "(new size:");
  if (!entries || *entries < 1) {
    return {};
  }
  return {given(LogKind::kMegatron, "padded_vocab_size", std::to_string(*entries))};
}

std::vector<FoundSetting> maxtext_param(std::string_view line) {
  const std::string_view words = text_after(line, "Config param ").value_or("");
  const std::size_t colon = words.find(':');
  if (colon == std::string_view::npos || !is_printed_key(words.substr(0, colon))) {
    return {};
  }
  auto values = printed_values(words.substr(colon + 1));
  if (!values) {
    return {};
  }
  return {{LogKind::kMaxtext, false, std::string(words.substr(0, colon)), std::move(*values)}};
}

std::vector<FoundSetting> deepspeed_attribute(std::string_view line) {
  const std::size_t mark = line.find(":print]");
  const std::optional<Dotted> pair = dotted(line.substr(mark + 7), kDeepspeedColumn);
  const std::optional<std::string> value = pair ? printed_value(pair->value) : std::nullopt;
  if (!value) {
    return {};
  }
  if (pair->name == "world_size") {
    return {launched(LogKind::kDeepspeed, "devices", *value)};
  }
  for (const auto& [printed, key] : kDeepspeedKeys) {
    if (pair->name == printed) {
      return {given(LogKind::kDeepspeed, key, *value)};
    }
  }
  return {};
}

// The name in "CUDA capacity: NAME with 79.18GiB memory", "GPU 0: NAME (UUID: …)", "GPU: NAME".
std::optional<std::string> device_name(std::string_view line) {
  std::string_view name;
  if (const auto capacity = text_after(line, "capacity:");
      capacity && has_text(line, "GiB memory")) {
    name = capacity->substr(0, capacity->find(" with "));
  } else if (const std::string_view start = trimmed(without_rank(line)); start.starts_with("GPU")) {
    const std::size_t colon = start.find(':');
    if (colon == std::string_view::npos ||
        start.substr(3, colon - 3).find_first_not_of(" 0123456789") != std::string_view::npos) {
      return std::nullopt;
    }
    name = start.substr(colon + 1);
    name = name.substr(0, name.find(" (UUID"));
  }
  name = trimmed(name);
  // A product has a number in its name and does not begin with one.
  const bool plain = !name.empty() && (name.front() < '0' || name.front() > '9') &&
                     name.find_first_of("0123456789") != std::string_view::npos &&
                     name.size() <= kLongestKey && !first_invalid_utf8(name) &&
                     name.find('|') == std::string_view::npos;
  return plain ? std::optional<std::string>(name) : std::nullopt;
}

}  // namespace

std::vector<FoundSetting> settings_in_line(std::string_view line) {
  if (has_text(line, "Config param ")) {
    return maxtext_param(line);
  }
  if (has_text(line, "> padded vocab (size:")) {
    return padded_vocabulary(line);
  }
  if (has_text(line, "using world size:")) {
    return world_line(line);
  }
  if (has_text(line, ":print]")) {
    return deepspeed_attribute(line);
  }
  if (has_text(line, "CONFIG: micro_batches=")) {
    // The pipeline engine's world size is its data-parallel size.
    return {{LogKind::kDeepspeed, true, "devices", {}}};
  }
  if (has_text(line, "device mesh with parallelism:")) {
    return mesh_line(line);
  }
  if (has_text(line, "-D device mesh with")) {
    return old_mesh_line(line);
  }
  if (has_text(line, "Trainer is initialized with")) {
    return trainer_line(line);
  }
  if (has_text(line, "total parameters") && has_text(line, " size:")) {
    return model_line(line);
  }
  if (const auto devices = integer_after(line, "Num_devices:"); devices && *devices >= 1) {
    return {launched(LogKind::kMaxtext, "devices", std::to_string(*devices))};
  }
  if (auto name = device_name(line)) {
    return {launched(std::nullopt, "device", std::move(*name))};
  }
  return {};
}

bool begins_arguments(std::string_view line) {
  return has_text(line, "--- arguments ---");
}
bool ends_arguments(std::string_view line) {
  return has_text(line, "--- end of arguments ---");
}

std::optional<FoundSetting> argument_line(std::string_view line) {
  const std::optional<Dotted> pair = dotted(without_rank(line), kMegatronColumn);
  auto values = pair ? printed_values(pair->value) : std::nullopt;
  if (!values) {
    return std::nullopt;
  }
  return FoundSetting{LogKind::kMegatron, false, std::string(pair->name), std::move(*values)};
}

std::optional<DumpStart> dump_start(std::string_view line) {
  for (const std::string_view label : {"Running with configs:", "Running with args:"}) {
    if (const auto rest = text_after(line, label); rest && trimmed(*rest).starts_with('{')) {
      return DumpStart{LogKind::kTorchtitan, *rest};
    }
  }
  if (const auto rest = text_after(line, "json ="); rest && trimmed(*rest).starts_with('{')) {
    return DumpStart{LogKind::kDeepspeed, *rest};
  }
  if (const std::size_t at = line.find("Config(general="); at != std::string_view::npos) {
    return DumpStart{LogKind::kNanotron, line.substr(at)};
  }
  return std::nullopt;
}

std::optional<std::string_view> dump_continuation(LogKind kind, std::string_view line) {
  if (kind == LogKind::kNanotron) {
    const std::size_t mark = line.find("[INFO|");
    const std::size_t end = mark == std::string_view::npos ? mark : line.find("]: ", mark);
    return end == std::string_view::npos ? std::nullopt : std::optional(line.substr(end + 3));
  }
  for (const std::string_view mark : {" - INFO - ", " - WARNING - ", "[INFO]", "[WARNING]"}) {
    if (has_text(line, mark)) {
      return std::nullopt;
    }
  }
  return without_rank(line);
}

std::optional<FoundSetting> dumped_setting(LogKind kind, LiteralField field) {
  if (kind == LogKind::kDeepspeed && field.values == std::vector<std::string>{"auto"}) {
    return std::nullopt;
  }
  if (kind == LogKind::kNanotron && field.path == "parallelism.pp_engine") {
    // Printed as the engine's class; the file has a short word for each.
    const std::string& engine = field.values.front();
    if (engine == "OneForwardOneBackwardPipelineEngine") {
      field.values = {"1f1b"};
    } else if (engine == "AllForwardAllBackwardPipelineEngine") {
      field.values = {"afab"};
    }
  }
  return FoundSetting{kind, false, std::move(field.path), std::move(field.values)};
}

}  // namespace sextant::emit
