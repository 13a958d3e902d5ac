#include "emit/log_run.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace sextant::emit {
namespace {

constexpr std::size_t kMostKeys = 20'000;
constexpr std::size_t kMostItems = 4096;
constexpr std::size_t kMostSteps = 1'000'000;

// The missing numbers of one line from another line of the same step.
void complete(StepLine& line, const StepLine& other) {
  const auto fill = [](auto& value, auto from) { value = value > 0 ? value : from; };
  fill(line.seconds, other.seconds);
  fill(line.tokens_per_second, other.tokens_per_second);
  fill(line.samples_per_second, other.samples_per_second);
  fill(line.tflops, other.tflops);
  fill(line.global_batch, other.global_batch);
  line.loss = line.loss ? line.loss : other.loss;
}

// --- sizes

constexpr double kLargestProduct = 1e15;

std::optional<std::int64_t> integer(const SettingList& settings, const std::string& key) {
  const Setting* const setting = settings.find(key);
  const auto number = setting != nullptr && setting->values.size() == 1
                          ? to_integer(setting->values.front())
                          : std::nullopt;
  return number && *number >= 1 && *number <= 1'000'000'000'000 ? number : std::nullopt;
}

// The product, or nothing where a factor is missing or it is beyond any job.
std::optional<std::int64_t> product(std::initializer_list<std::optional<std::int64_t>> factors) {
  std::int64_t result = 1;
  for (const std::optional<std::int64_t>& factor : factors) {
    if (!factor || static_cast<double>(result) * static_cast<double>(*factor) > kLargestProduct) {
      return std::nullopt;
    }
    result *= *factor;
  }
  return result;
}

std::optional<double> per_device(std::optional<std::int64_t> tokens,
                                 std::optional<std::int64_t> devices) {
  if (!tokens || !devices) {
    return std::nullopt;
  }
  return static_cast<double>(*tokens) / static_cast<double>(*devices);
}

StepSize torchtitan_size(const LogRun& run) {
  const SettingList& given = run.given();
  const auto degree = [&](const std::string& name) {
    return integer(given, "parallelism." + name + "_degree");
  };
  StepSize size;
  size.data_parallel = product({degree("data_parallel_replicate"), degree("data_parallel_shard")});
  const std::optional<std::int64_t> shards =
      product({degree("context_parallel"), degree("tensor_parallel"), degree("pipeline_parallel")});
  size.world = integer(run.launch(), "devices");
  if (!size.world) {
    size.world = product({size.data_parallel, shards});
  }
  size.sequence = integer(given, "training.seq_len");
  if (!size.sequence) {
    size.sequence = integer(given, "training.max_context_length");
  }
  const std::optional<std::int64_t> local = integer(given, "training.local_batch_size");
  size.global_batch = integer(given, "training.global_batch_size");
  if (!size.global_batch) {  // −1: one local batch a data-parallel rank
    size.global_batch = product({local, size.data_parallel});
  }
  std::optional<std::int64_t> tokens = integer(given, "training.num_tokens_per_train_step");
  if (!tokens) {
    tokens = product({size.global_batch, size.sequence});
  } else if (!size.global_batch && size.sequence && *tokens % *size.sequence == 0) {
    size.global_batch = *tokens / *size.sequence;
  }
  size.tokens_per_device = per_device(tokens, size.world);
  if (!size.tokens_per_device && !integer(given, "training.global_batch_size")) {
    size.tokens_per_device = per_device(product({local, size.sequence}), shards);
  }
  return size;
}

StepSize nanotron_size(const SettingList& given) {
  const auto degree = [&](const std::string& name, bool optional_key) {
    const auto number = integer(given, "parallelism." + name);
    return optional_key && !number ? std::optional<std::int64_t>(1) : number;
  };
  StepSize size;
  size.data_parallel = degree("dp", false);
  size.world =
      product({size.data_parallel, degree("tp", false), degree("pp", false),
               degree("context_parallel_size", true), degree("expert_parallel_size", true)});
  size.sequence = integer(given, "tokens.sequence_length");
  size.global_batch =
      product({integer(given, "tokens.micro_batch_size"),
               integer(given, "tokens.batch_accumulation_per_replica"), size.data_parallel});
  return size;
}

}  // namespace

bool SettingList::set(std::string key, std::vector<std::string> values, const Place& place) {
  const auto known = index_.find(key);
  if (values.empty()) {
    if (known != index_.end()) {
      settings_[known->second].values.clear();
      index_.erase(known);
    }
    return true;
  }
  if (known != index_.end()) {
    settings_[known->second].values = std::move(values);
    settings_[known->second].place = place;
    return true;
  }
  if (settings_.size() >= kMostKeys) {
    return false;
  }
  index_.emplace(key, settings_.size());
  settings_.push_back({std::move(key), std::move(values), place});
  return true;
}

void SettingList::append(const std::string& key, std::string value, const Place& place) {
  const auto known = index_.find(key);
  if (known == index_.end()) {
    set(key, {std::move(value)}, place);
  } else if (settings_[known->second].values.size() < kMostItems) {
    settings_[known->second].values.push_back(std::move(value));
  }
}

const Setting* SettingList::find(const std::string& key) const {
  const auto known = index_.find(key);
  return known == index_.end() ? nullptr : &settings_[known->second];
}

std::vector<Setting> SettingList::all() const {
  std::vector<Setting> kept;
  std::copy_if(settings_.begin(), settings_.end(), std::back_inserter(kept),
               [](const Setting& setting) { return !setting.values.empty(); });
  return kept;
}

void LogRun::begin_again(bool forget_settings) {
  steps_.clear();
  highest_ = -1;
  stride_ = 1;
  ++runs_;
  if (forget_settings) {
    given_ = {};
    launch_ = {};
  }
}

bool LogRun::take_step(const StepLine& line) {
  if (line.step >= 0 && highest_ >= 0) {
    if (line.step > highest_) {
      stride_ = line.step - highest_;
    } else if ((highest_ - line.step) / 2 > stride_) {
      begin_again(false);
    } else {
      // Another rank's line of a step that is known; only the last is worth completing.
      if (!steps_.empty() && steps_.back().step == line.step) {
        complete(steps_.back(), line);
      }
      return true;
    }
  }
  highest_ = std::max(highest_, line.step);
  // Megatron-Bridge announces a step without its number before the line that has it.
  if (line.step >= 0 && !steps_.empty() && steps_.back().step < 0) {
    StepLine whole = line;
    complete(whole, steps_.back());
    steps_.back() = whole;
    return true;
  }
  if (steps_.size() >= kMostSteps) {
    return false;
  }
  steps_.push_back(line);
  return true;
}

void LogRun::take_setting(FoundSetting found, const Place& place) {
  if (!steps_.empty() && !found.launch) {
    begin_again(true);
  }
  (found.launch ? launch_ : given_).set(std::move(found.key), std::move(found.values), place);
}

void LogRun::take_list_item(const std::string& key, std::string value, const Place& place) {
  given_.append(key, std::move(value), place);
}

StepSize step_size(LogKind kind, bool is_bridge, const LogRun& run) {
  const SettingList& given = run.given();
  StepSize size;
  size.world = integer(run.launch(), "devices");
  switch (kind) {
    case LogKind::kMegatron:
      size.sequence = integer(given, is_bridge ? "model.seq_length" : "seq_length");
      size.global_batch =
          integer(given, is_bridge ? "train.global_batch_size" : "global_batch_size");
      size.data_parallel = integer(given, "data_parallel_size");
      if (!size.world) {
        size.world = integer(given, "world_size");
      }
      break;
    case LogKind::kTorchtitan:
      return torchtitan_size(run);
    case LogKind::kMaxtext:
      size.sequence = integer(given, "max_target_length");
      size.global_batch = integer(given, "global_batch_size_to_train_on");
      break;
    case LogKind::kDeepspeed:
      size.global_batch = integer(given, "train_batch_size");
      break;
    case LogKind::kNanotron:
      return nanotron_size(given);
  }
  return size;
}

}  // namespace sextant::emit
