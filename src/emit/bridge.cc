#include "emit/bridge.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/model/load_model.h"
#include "emit/megatron_meaning.h"

namespace sextant::emit {
namespace {

constexpr std::string_view kNull = "null";

// A recipe of the model, one for as many devices if there is one.
std::optional<std::string> recipe_for(const describe::Job& job) {
  static const std::vector<BridgeRecipe> kRecipes = bridge_recipes(describe::DataStore{});
  const std::string name = to_lower(job.model.name);
  const BridgeRecipe* found = nullptr;
  for (const BridgeRecipe& recipe : kRecipes) {
    if (recipe.model != name) {
      continue;
    }
    if (found == nullptr ||
        (found->devices != job.cluster.devices && recipe.devices == job.cluster.devices)) {
      found = &recipe;
    }
  }
  return found == nullptr ? std::nullopt : std::optional(found->name + "_config");
}

// What a recipe may have set and these arguments are silent about is switched off.
void silence_the_rest(Arguments& arguments) {
  for (const auto* const name :
       {"pipeline_model_parallel_layout", "decoder_first_pipeline_num_layers",
        "decoder_last_pipeline_num_layers", "recompute_method", "recompute_num_layers",
        "recompute_modules"}) {
    if (find(arguments, name) == nullptr) {
      arguments.push_back({name, {std::string(kNull)}, {}, {}});
    }
  }
  for (const auto* const name : {"account_for_embedding_in_pipeline_split",
                                 "account_for_loss_in_pipeline_split", "overlap_p2p_comm"}) {
    if (find(arguments, name) == nullptr) {
      arguments.push_back({name, {"false"}, {}, {}});
    }
  }
}

void start_from(const BridgeRecipe& recipe, const Setting& named, const describe::DataStore& data,
                std::vector<Setting>& settings, Reading& reading) {
  settings = recipe.settings;
  for (Setting& setting : settings) {
    setting.place = {.file = named.place.file, .line = named.place.line, .offset = 0, .length = 0};
  }
  if (auto model = describe::load_model(recipe.model, data)) {
    reading.facts.push_back(
        {"model", model->name, fmt::format("recipe {}", recipe.name), named.place});
    reading.model = *std::move(model);
  }
}

// Which settings a performance recipe has depends on the version that is installed: only its model
// is taken.
void name_performance_recipe(const Setting& named, const describe::DataStore& data,
                             Reading& reading) {
  const std::string& name = named.values.front();
  reading.unresolved.push_back(
      {fmt::format("--model_recipe_name {}", printable(name, 60)),
       "what the recipe of the installed Megatron-Bridge sets is not known",
       named.place,
       {},
       true});
  for (const BridgeRecipe& recipe : bridge_recipes(data)) {
    if (!recipe.name.starts_with(name + "_pretrain")) {
      continue;
    }
    if (auto model = describe::load_model(recipe.model, data)) {
      reading.facts.push_back({"model", model->name, fmt::format("recipe {}", name), named.place});
      reading.model = *std::move(model);
    }
    return;
  }
}

}  // namespace

Writing write_bridge(const describe::Job& job) {
  Arguments arguments = write_arguments(job, Megatron::kBridge);
  silence_the_rest(arguments);
  Writing writing;
  writing.settings.dialect = Dialect::kBridge;
  if (const auto recipe = recipe_for(job)) {
    writing.settings.given.push_back({"recipe", {*recipe}, {}});
  }
  const std::vector<Setting> overrides = overrides_of(arguments);
  writing.settings.given.insert(writing.settings.given.end(), overrides.begin(), overrides.end());
  writing.settings.environment = megatron_environment(job);
  writing.settings.launch = launch_settings(job.cluster);
  writing.left_out = left_out(job, arguments, Megatron::kBridge);
  return writing;
}

Reading read_bridge(const Settings& settings, const describe::DataStore& data) {
  Reading reading;
  reading.dialect = Dialect::kBridge;
  reading.unresolved = settings.unresolved;
  std::vector<Setting> given;
  Settings launched = settings;
  const Setting* named = find(settings.given, "recipe");
  if (named != nullptr && !named->values.empty()) {
    if (const auto recipe = find_bridge_recipe(named->values.back(), data)) {
      start_from(*recipe, *named, data, given, reading);
      if (settings.launch.empty()) {
        launched.launch = {{"devices", {std::to_string(recipe->devices)}, named->place}};
      }
    } else {
      reading.unresolved.push_back({fmt::format("--recipe {}", printable(named->values.back())),
                                    "the recipe is not in the table of performance recipes",
                                    named->place});
    }
  }
  if (const Setting* performance = find(settings.given, "performance_recipe")) {
    name_performance_recipe(*performance, data, reading);
  }
  std::copy_if(settings.given.begin(), settings.given.end(), std::back_inserter(given),
               [](const Setting& one) { return one.key != "performance_recipe"; });
  const Arguments arguments = arguments_of_overrides(given, reading);
  ArgumentReader in(Megatron::kBridge, arguments, reading);
  read_arguments(in, launched, data, reading);
  return reading;
}

std::vector<std::string> override_words(const Setting& setting) {
  if (setting.key == "recipe") {
    return {"--recipe", setting.values.empty() ? std::string() : setting.values.back()};
  }
  if (setting.values.size() == 1) {
    return {fmt::format("{}={}", setting.key, setting.values.front())};
  }
  return {fmt::format("{}=[{}]", setting.key, join(setting.values, ","))};
}

std::vector<Setting> parse_overrides(std::span<const WordAt> words) {
  constexpr std::string_view kRecipe = "--recipe";
  std::vector<Setting> settings;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i].text;
    const std::size_t equals = word.find('=');
    if (word == kRecipe && i + 1 < words.size()) {
      settings.push_back({"recipe", {words[i + 1].text}, words[i + 1].place});
      i += 1;
      continue;
    }
    const std::size_t first = word.find_first_not_of("+-");
    const bool flag = word.starts_with('-');
    if (equals == std::string_view::npos || first >= equals ||
        (flag && word.substr(0, equals) != kRecipe)) {
      continue;
    }
    Setting setting{std::string(word.substr(first, equals - first)),
                    plain_values({std::string(word.substr(equals + 1))}), words[i].place};
    if (setting.values.empty()) {
      setting.values.emplace_back(kNull);
    }
    if (setting.place.length == word.size()) {
      setting.place.offset += equals + 1;
      setting.place.length -= equals + 1;
    } else {
      setting.place.length = 0;
    }
    settings.push_back(std::move(setting));
  }
  return settings;
}

}  // namespace sextant::emit
