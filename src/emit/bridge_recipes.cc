#include <algorithm>

#include "base/text.h"
#include "describe/json_value.h"
#include "emit/bridge.h"

namespace sextant::emit {
namespace {

constexpr std::string_view kRecipesFile = "frameworks/bridge_recipes.json";
constexpr std::size_t kFirstSetting = 4;  // after recipe, model, gpu, devices

std::optional<BridgeRecipe> recipe_of_row(std::string_view row,
                                          const std::vector<std::string>& columns) {
  const std::vector<std::string_view> cells = split(row, ',');
  if (cells.size() != columns.size() || cells.size() < kFirstSetting) {
    return std::nullopt;
  }
  BridgeRecipe recipe{.name = std::string(cells[0]),
                      .model = std::string(cells[1]),
                      .gpu = std::string(cells[2]),
                      .devices = to_integer(cells[3]).value_or(0),
                      .settings = {}};
  for (std::size_t i = kFirstSetting; i < cells.size(); ++i) {
    if (cells[i].empty()) {
      continue;
    }
    Setting setting{columns[i], {}, {}};
    for (const std::string_view value : split(cells[i], '+')) {
      setting.values.emplace_back(value);
    }
    recipe.settings.push_back(std::move(setting));
  }
  return recipe;
}

std::vector<BridgeRecipe> read_recipes(const describe::DataStore& data) {
  std::vector<BridgeRecipe> recipes;
  const auto text = data.read(kRecipesFile);
  if (!text) {
    return recipes;
  }
  const auto json = describe::JsonValue::parse(*text, data.where(kRecipesFile));
  if (!json) {
    return recipes;
  }
  std::vector<std::string> columns;
  if (const auto names = json->member("columns")) {
    for (const describe::JsonValue& column : names->elements()) {
      columns.push_back(column.text().value_or(""));
    }
  }
  if (const auto rows = json->member("rows")) {
    for (const describe::JsonValue& row : rows->elements()) {
      if (auto recipe = recipe_of_row(row.text().value_or(""), columns)) {
        recipes.push_back(*std::move(recipe));
      }
    }
  }
  return recipes;
}

// Those of the program itself, read once.
const std::vector<BridgeRecipe>& embedded_recipes() {
  static const std::vector<BridgeRecipe> kEmbedded = read_recipes(describe::DataStore{});
  return kEmbedded;
}

std::optional<BridgeRecipe> named(std::string_view name, const std::vector<BridgeRecipe>& recipes) {
  const auto found =
      std::ranges::find_if(recipes, [name](const BridgeRecipe& one) { return one.name == name; });
  return found == recipes.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::vector<BridgeRecipe> bridge_recipes(const describe::DataStore& data) {
  return data.override_folder() ? read_recipes(data) : embedded_recipes();
}

std::optional<BridgeRecipe> find_bridge_recipe(std::string_view name,
                                               const describe::DataStore& data) {
  constexpr std::string_view kSuffix = "_config";
  if (name.ends_with(kSuffix)) {
    name.remove_suffix(kSuffix.size());
  }
  return data.override_folder() ? named(name, read_recipes(data)) : named(name, embedded_recipes());
}

}  // namespace sextant::emit
