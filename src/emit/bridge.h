// Megatron-Bridge: jobs as Hydra-style overrides ("model.tensor_model_parallel_size=2"), with the
// name of a recipe under the key "recipe", and back. The keys of a run_config.yaml are the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "describe/data_store.h"
#include "describe/layout/job.h"
#include "emit/dialects.h"
#include "emit/flags.h"

namespace sextant::emit {

// Names the recipe to start from where there is one of the model; everything a recipe could set is
// overridden.
Writing write_bridge(const describe::Job& job);
// The recipe's own settings stand under the overrides. A recipe that is not in the table is listed
// as unresolved; then what is silent is what Megatron-Bridge's recipes have in common: the
// distributed optimizer with its overlaps, bf16_mixed, Transformer Engine's cross entropy.
Reading read_bridge(const Settings& settings, const describe::DataStore& data);

// "model.recompute_modules=[core_attn,moe_act]"; the recipe is "--recipe" and its name.
std::vector<std::string> override_words(const Setting& setting);
// The words after the script's name: KEY=VALUE (or +KEY=VALUE) and --recipe NAME; others are
// dropped.
std::vector<Setting> parse_overrides(std::span<const WordAt> words);

// A recipe of the table, with what it sets.
struct BridgeRecipe {
  std::string name;   // "llama3_8b_pretrain_8gpu_h100_bf16"
  std::string model;  // of the catalogue
  std::string gpu;    // "h100"
  std::int64_t devices = 0;
  std::vector<Setting> settings;
};
std::vector<BridgeRecipe> bridge_recipes(const describe::DataStore& data);
// By name, with or without "_config" at the end.
std::optional<BridgeRecipe> find_bridge_recipe(std::string_view name,
                                               const describe::DataStore& data);

}  // namespace sextant::emit
