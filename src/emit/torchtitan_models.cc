#include "emit/torchtitan_models.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/toml_table.h"

namespace sextant::emit {
namespace {

using describe::DataStore;
using describe::TomlTable;

constexpr std::string_view kTorchtitanModelsFile = "frameworks/torchtitan_models.toml";

// "llama3/8B" with its catalogue name.
std::optional<TorchtitanModel> model_of(std::string_view key, const TomlTable& models) {
  const auto row = models.table(key);
  const auto catalogue = row ? row->text("model") : tl::unexpected(row.error());
  const std::size_t slash = key.find('/');
  if (!catalogue || slash == std::string_view::npos) {
    return std::nullopt;
  }
  return TorchtitanModel{std::string(key.substr(0, slash)), std::string(key.substr(slash + 1)),
                         *catalogue};
}

std::optional<TorchtitanRecipe> torchtitan_recipe(const std::string& name, const TomlTable& recipes,
                                                  const TomlTable& models) {
  const auto row = recipes.table(name);
  const auto key = row ? row->text("model") : tl::unexpected(row.error());
  const auto model = key ? model_of(*key, models) : std::nullopt;
  if (!model) {
    return std::nullopt;
  }
  TorchtitanRecipe recipe{name, *model, {}};
  for (const std::string& pair : row->texts("settings").value_or(std::vector<std::string>())) {
    const std::size_t equals = pair.find('=');
    if (equals != std::string::npos) {
      recipe.settings.push_back({pair.substr(0, equals),
                                 {pair.substr(equals + 1)},
                                 {fmt::format("recipe {}", name), 0, 0, 0}});
    }
  }
  return recipe;
}

TorchtitanNames read_names(const DataStore& data) {
  TorchtitanNames names;
  const auto text = data.read(kTorchtitanModelsFile);
  const auto root = text ? TomlTable::parse(*text, data.where(kTorchtitanModelsFile))
                         : tl::unexpected(text.error());
  const auto models = root ? root->table("models") : tl::unexpected(root.error());
  if (!models) {
    return names;
  }
  for (const std::string& key : models->keys()) {
    if (auto model = model_of(key, *models)) {
      names.models.push_back(std::move(*model));
    }
  }
  const auto recipes = root->table("recipes");
  for (const std::string& key : recipes ? recipes->keys() : std::vector<std::string>()) {
    if (auto recipe = torchtitan_recipe(key, *recipes, *models)) {
      names.recipes.push_back(std::move(*recipe));
    }
  }
  return names;
}

}  // namespace

TorchtitanNames torchtitan_names(const DataStore& data) {
  static const TorchtitanNames kBuiltIn = read_names(DataStore());
  return data.override_folder() ? read_names(data) : kBuiltIn;
}

// By the catalogue's file, or by the name, in any case.
const TorchtitanModel* TorchtitanNames::flavor_of(const describe::Model& model) const {
  const std::string name = to_lower(model.name);
  const auto found = std::find_if(models.begin(), models.end(), [&](const TorchtitanModel& row) {
    return model.config_file.ends_with(fmt::format("models/{}.json", row.catalogue)) ||
           row.catalogue == name;
  });
  return found == models.end() ? nullptr : &*found;
}

const TorchtitanModel* TorchtitanNames::flavor_of(std::string_view module,
                                                  std::string_view flavor) const {
  const auto found = std::find_if(models.begin(), models.end(), [&](const TorchtitanModel& model) {
    return model.module == module && model.flavor == flavor;
  });
  return found == models.end() ? nullptr : &*found;
}

const TorchtitanRecipe* TorchtitanNames::recipe(std::string_view name) const {
  const auto found =
      std::find_if(recipes.begin(), recipes.end(),
                   [&](const TorchtitanRecipe& recipe) { return recipe.name == name; });
  return found == recipes.end() ? nullptr : &*found;
}

std::string TorchtitanNames::module_of(std::string_view recipe_name) const {
  const auto found = std::find_if(models.begin(), models.end(), [&](const TorchtitanModel& model) {
    return recipe_name == model.module || recipe_name.starts_with(model.module + "_");
  });
  return found == models.end() ? "" : found->module;
}

}  // namespace sextant::emit
