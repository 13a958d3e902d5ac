// torchtitan's names for models and recipes, from data/frameworks/torchtitan_models.toml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "describe/data_store.h"
#include "describe/model/model.h"
#include "emit/settings.h"

namespace sextant::emit {

struct TorchtitanModel {
  std::string module;     // "llama3"
  std::string flavor;     // "8B"
  std::string catalogue;  // "llama-3.1-8b"
};

struct TorchtitanRecipe {
  std::string name;  // "llama3_8b"
  TorchtitanModel model;
  std::vector<Setting> settings;
};

struct TorchtitanNames {
  std::vector<TorchtitanModel> models;
  std::vector<TorchtitanRecipe> recipes;

  // Null where there is none.
  [[nodiscard]] const TorchtitanModel* flavor_of(const describe::Model& model) const;
  [[nodiscard]] const TorchtitanModel* flavor_of(std::string_view module,
                                                 std::string_view flavor) const;
  [[nodiscard]] const TorchtitanRecipe* recipe(std::string_view name) const;
  // The module that a recipe's name begins with ("llama3" of "llama3_8b_tuned"), or "".
  [[nodiscard]] std::string module_of(std::string_view recipe_name) const;
};

// Rows that cannot be read are absent.
TorchtitanNames torchtitan_names(const describe::DataStore& data);

}  // namespace sextant::emit
