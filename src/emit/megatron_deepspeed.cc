#include "emit/megatron_deepspeed.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "emit/setting_values.h"

namespace sextant::emit {
namespace {

constexpr std::string_view kZeroFlag = "zero_stage";
constexpr std::string_view kUlyssesFlag = "ds_sequence_parallel_size";
constexpr std::string_view kStageCut = "pp_partition_method";

bool is_on(const Settings& settings, std::string_view key) {
  const Setting* setting = find(settings.given, key);
  return setting != nullptr && setting->values.size() == 1 && to_flag(setting->values[0]) == true;
}

// The fork's flag, and Megatron's of the same meaning and value.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kRenamed{
    {{"num_key_value_heads", "num_query_groups"},
     {"moe_expert_parallel_size", "expert_model_parallel_size"},
     {"ffn_hidden_size_swiglu", "ffn_hidden_size"}}};

void add_recompute(const Setting& said, Settings& settings) {
  Place place = said.place;
  place.length = 0;
  settings.given.push_back({"recompute_granularity", {"full"}, place});
  settings.given.push_back({"recompute_method", {"uniform"}, place});
  const Setting* layers = find(settings.given, "checkpoint_num_layers");
  settings.given.push_back({"recompute_num_layers",
                            layers != nullptr ? layers->values : std::vector<std::string>{"1"},
                            layers != nullptr ? layers->place : place});
}

}  // namespace

bool is_megatron_deepspeed(const Settings& settings) {
  constexpr std::array<std::string_view, 5> kOwn{kZeroFlag, kUlyssesFlag,
                                                 "deepspeed_activation_checkpointing", kStageCut,
                                                 "moe_expert_parallel_size"};
  return settings.dialect == Dialect::kMegatron &&
         (is_on(settings, "deepspeed") || std::ranges::any_of(kOwn, [&](std::string_view key) {
            return find(settings.given, key) != nullptr;
          }));
}

Settings in_megatron_words(const Settings& settings) {
  Settings made = settings;
  for (const auto& [theirs, ours] : kRenamed) {
    for (Setting& setting : made.given) {
      if (setting.key == theirs) {
        setting.key = ours;
      }
    }
  }
  if (find(made.given, "num_query_groups") != nullptr) {
    made.given.push_back({"group_query_attention", {"true"}, {}});
  }
  std::erase_if(made.given, [](const Setting& one) {
    return one.key == "num_experts" && one.values == std::vector<std::string>{"1"};
  });
  if (const Setting* again = find(settings.given, "checkpoint_activations");
      again != nullptr && is_on(settings, "checkpoint_activations")) {
    add_recompute(*again, made);
  }
  constexpr std::array<std::string_view, 12> kFork{"deepspeed",
                                                   kZeroFlag,
                                                   kUlyssesFlag,
                                                   kStageCut,
                                                   "deepspeed_config",
                                                   "deepspeed_activation_checkpointing",
                                                   "deepspeed_mpi",
                                                   "no_pipeline_parallel",
                                                   "deepscale",
                                                   "checkpoint_activations",
                                                   "memory_centric_tiled_linear",
                                                   "checkpoint_num_layers"};
  std::erase_if(made.given, [&](const Setting& one) {
    return std::ranges::find(kFork, std::string_view(one.key)) != kFork.end();
  });
  return made;
}

void read_deepspeed_flags(const Settings& settings, Reading& reading) {
  reading.framework = describe::Framework::kMegatronDeepspeed;
  describe::Layout& at = reading.layout;
  SettingReader reader(settings, reading);
  if (const auto stage = reader.whole(kZeroFlag, 0, 3)) {
    at.zero = static_cast<describe::Zero>(*stage);
    std::erase_if(reading.facts, [](const Fact& fact) { return fact.field == "zero"; });
    reader.fact("zero", std::to_string(*stage), kZeroFlag);
  } else {
    reading.not_known.emplace("zero");
  }
  if (const auto ranks = reader.whole(kUlyssesFlag, 1, describe::kMostDevices);
      ranks && *ranks > 1) {
    at.cp = *ranks;
    at.cp_method = describe::CpMethod::kAllToAll;
    at.dp = at.dp % at.cp == 0 ? at.dp / at.cp : 0;
    reader.fact("cp", std::to_string(at.cp), kUlyssesFlag);
  }
  if (reader.find(kStageCut) != nullptr) {
    reading.not_known.emplace("split");
  }
}

}  // namespace sextant::emit
