// Which framework a tree belongs to: keys that only one of them has.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "emit/tree_file.h"

namespace sextant::emit {
namespace {

constexpr std::string_view kTestArguments = "MODEL_ARGS.";
constexpr std::string_view kTestVariables = "ENV_VARS.";

bool has_key(const Settings& settings, std::string_view key) {
  return find(settings.given, key) != nullptr;
}

// Is there a key inside this table?
bool has_inside(const Settings& settings, std::string_view table) {
  return std::any_of(settings.given.begin(), settings.given.end(), [&](const Setting& setting) {
    return setting.key.size() > table.size() && setting.key.starts_with(table) &&
           setting.key[table.size()] == '.';
  });
}

bool any_ends_with(const Settings& settings, std::string_view end) {
  return std::any_of(settings.given.begin(), settings.given.end(),
                     [&](const Setting& setting) { return setting.key.ends_with(end); });
}

bool is_megatron_test(const Settings& settings) {
  return has_inside(settings, "MODEL_ARGS");
}

bool is_bridge(const Settings& settings) {
  return has_inside(settings, "model") &&
         (has_inside(settings, "train") || has_inside(settings, "ddp")) &&
         (any_ends_with(settings, "._target_") ||
          has_key(settings, "model.tensor_model_parallel_size"));
}

bool is_torchtitan(const Settings& settings) {
  return has_key(settings, "parallelism.data_parallel_shard_degree") ||
         has_key(settings, "parallelism.tensor_parallel_degree") ||
         has_key(settings, "parallelism.pipeline_parallel_degree");
}

bool is_nanotron(const Settings& settings) {
  return (has_key(settings, "parallelism.tp") || has_key(settings, "parallelism.dp")) &&
         (has_inside(settings, "tokens") || has_inside(settings, "general") ||
          has_inside(settings, "model"));
}

bool is_maxtext(const Settings& settings) {
  static constexpr std::array<std::string_view, 5> kOwn{"per_device_batch_size",
                                                        "max_target_length", "remat_policy",
                                                        "base_emb_dim", "base_num_decoder_layers"};
  const bool axis =
      std::any_of(settings.given.begin(), settings.given.end(), [](const Setting& setting) {
        return (setting.key.starts_with("ici_") || setting.key.starts_with("dcn_")) &&
               setting.key.ends_with("_parallelism");
      });
  return axis || std::any_of(kOwn.begin(), kOwn.end(),
                             [&](std::string_view key) { return has_key(settings, key); });
}

// Axolotl has an fsdp_config too, but says what it trains.
bool is_accelerate(const Settings& settings) {
  return !has_key(settings, "base_model") &&
         (has_key(settings, "distributed_type") || has_key(settings, "compute_environment") ||
          has_inside(settings, "fsdp_config") || has_inside(settings, "parallelism_config") ||
          has_inside(settings, "megatron_lm_config"));
}

bool is_deepspeed(const Settings& settings) {
  return has_inside(settings, "zero_optimization") || has_key(settings, "train_batch_size") ||
         has_key(settings, "train_micro_batch_size_per_gpu");
}

// The test runner puts a value on a command line, where the shell splits it into words.
void add_words(const Setting& setting, std::vector<WordAt>& words) {
  for (const std::string& value : setting.values) {
    for (const std::string_view word : split(value, ' ')) {
      if (word.empty()) {
        continue;
      }
      Place place = setting.place;
      place.length = word == value ? place.length : 0;
      words.push_back({std::string(word), place});
    }
  }
}

}  // namespace

std::optional<Dialect> dialect_of_tree(const Settings& settings) {
  struct Row {
    bool (*is)(const Settings&);
    Dialect dialect;
  };
  static constexpr std::array<Row, 7> kRows{{{is_megatron_test, Dialect::kMegatron},
                                             {is_bridge, Dialect::kBridge},
                                             {is_torchtitan, Dialect::kTorchtitan},
                                             {is_nanotron, Dialect::kNanotron},
                                             {is_maxtext, Dialect::kMaxtext},
                                             {is_accelerate, Dialect::kAccelerate},
                                             {is_deepspeed, Dialect::kDeepspeed}}};
  const auto* const row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) { return each.is(settings); });
  return row == kRows.end() ? std::nullopt : std::optional(row->dialect);
}

std::vector<WordAt> megatron_test_words(const Settings& settings) {
  std::vector<WordAt> words;
  for (const Setting& setting : settings.given) {
    const bool one = setting.values.size() == 1;
    if (!setting.key.starts_with(kTestArguments) || (one && setting.values[0] == "false")) {
      continue;
    }
    Place flag = setting.place;
    flag.length = 0;
    words.push_back({setting.key.substr(kTestArguments.size()), flag});
    if (!one || setting.values[0] != "true") {
      add_words(setting, words);
    }
  }
  return words;
}

std::vector<Setting> megatron_test_environment(const Settings& settings) {
  std::vector<Setting> variables;
  for (const Setting& setting : settings.given) {
    if (setting.key.starts_with(kTestVariables)) {
      variables.push_back(
          {setting.key.substr(kTestVariables.size()), setting.values, setting.place});
    }
  }
  return variables;
}

}  // namespace sextant::emit
