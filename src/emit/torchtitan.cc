#include "emit/torchtitan.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/model/load_model.h"
#include "emit/canonical.h"
#include "emit/setting_values.h"
#include "emit/torchtitan_models.h"
#include "emit/torchtitan_parts.h"

namespace sextant::emit {
namespace {

using describe::DataStore;
using describe::Job;
using torchtitan::Draft;
using torchtitan::Edition;

constexpr std::array kTorchtitanReasons{
    Reason{"sp", "torchtitan before main always shards the sequence with tensor parallelism"},
    Reason{"cp_method", "main gathers keys and values; 0.2.2 gathers or turns them round the ring"},
    Reason{"cp_inner", "there is one context-parallel group"},
    Reason{"vpp", "the stages a rank holds follow from the schedule and the model's layers"},
    Reason{"schedule", "it is none of torch.distributed.pipelining's schedules"},
    Reason{"layers_per_stage", "torchtitan deals layers by its own rule"},
    Reason{"etp", "main has no tensor parallelism inside experts, 0.2.2 only 1 or tp"},
    Reason{"zero", "torchtitan shards parameters (FSDP2), or nothing where there is no cp"},
    Reason{"zero_group", "shards spread over whole context-parallel groups"},
    Reason{"reshard", "only sharded parameters are freed"},
    Reason{"recompute", "it knows none, every second product or layer, and every layer"},
    Reason{"activation_offload", "activations stay on the device"},
    Reason{"precision", "products run in float32, bfloat16, float8 or a block format's converter"},
    Reason{"parameters", "parameters are kept in float32 or bfloat16"},
    Reason{"gradients", "gradients follow the parameters, reduced in float32 or bfloat16"},
    Reason{"optimizer", "AdamW updates the parameters in place, moments in their format"},
    Reason{"attention", "attention is PyTorch's own flash or flex kernel"},
    Reason{"loss", "cross entropy is plain, compiled, or in chunks (main)"},
    Reason{"compile", "CUDA graphs are main's, without pipelines and waiting dispatchers"},
    Reason{"dispatcher", "tokens go by all-to-all or DeepEP"},
    Reason{"overlap", "FSDP2 always overlaps; tensor parallelism where the model is compiled"},
    Reason{"order", "the mesh is tp-cp-dp-pp, innermost first, experts carved out of it"},
};

void read_torchtitan_parts(SettingReader& reader, Draft& draft) {
  torchtitan::read_axes(reader, draft);
  torchtitan::read_pipeline(reader, draft);
  torchtitan::read_batch(reader, draft);
  torchtitan::read_kernels(reader, draft);
}

Dialect dialect_of(Edition edition) {
  return edition == Edition::kMain ? Dialect::kTorchtitan : Dialect::kTorchtitanToml;
}

Writing write_edition(const Job& said, Edition edition) {
  Job job = said;
  job.layout = canonical_layout(said);
  Writing writing;
  writing.settings.dialect = dialect_of(edition);
  writing.settings.launch = launch_settings(job);
  std::vector<Setting>& given = writing.settings.given;
  const TorchtitanNames names = torchtitan_names(DataStore());
  const TorchtitanModel* model = names.flavor_of(job.model);
  if (model != nullptr) {
    torchtitan::add(given, "model.name", model->module);
  }
  torchtitan::add(given, "model.flavor", model != nullptr ? model->flavor : job.model.name);
  torchtitan::write_axes(job, edition, given);
  torchtitan::write_pipeline(job, model != nullptr, given);
  torchtitan::write_batch(job, edition, given);
  torchtitan::write_kernels(job, edition, given);

  // What a reader of these settings sees is what the framework will run.
  Draft draft{edition, std::nullopt, {}};
  if (model != nullptr) {
    draft.layers = job.model.layer_count();
  }
  SettingReader reader(writing.settings, draft.reading);
  read_torchtitan_parts(reader, draft);
  if (model == nullptr) {
    writing.left_out.push_back(
        {"model", job.model.name, "torchtitan has no flavour of that model"});
  }
  for (Inexpressible& one : left_out_of(job.layout, draft.reading.layout, kTorchtitanReasons)) {
    writing.left_out.push_back(std::move(one));
  }
  if (draft.reading.global_batch && *draft.reading.global_batch != job.global_batch) {
    writing.left_out.push_back({"gbs", std::to_string(job.global_batch),
                                "a step is a whole number of microbatches of every rank"});
  }
  return writing;
}

// The settings with those of a known recipe put before the user's.
Settings with_recipe(const Settings& settings, Reading& reading, const TorchtitanNames& names) {
  Settings all = settings;
  const Setting* config = find(settings.given, "config");
  if (config == nullptr || config->values.size() != 1) {
    return all;
  }
  const TorchtitanRecipe* recipe = names.recipe(config->values[0]);
  if (recipe == nullptr) {
    reading.unresolved.push_back({fmt::format("config = {}", printable(config->values[0])),
                                  "the recipe's own settings are not known here", config->place});
    return all;
  }
  std::vector<Setting> given = recipe->settings;
  given.push_back({"model.name", {recipe->model.module}, config->place});
  given.push_back({"model.flavor", {recipe->model.flavor}, config->place});
  given.insert(given.end(), settings.given.begin(), settings.given.end());
  all.given = std::move(given);
  return all;
}

void read_torchtitan_model(const Settings& settings, Draft& draft, const TorchtitanNames& names,
                           const DataStore& data) {
  const auto text = [&](std::string_view key) -> std::string {
    const Setting* setting = find(settings.given, key);
    return setting != nullptr && setting->values.size() == 1 ? setting->values[0] : "";
  };
  std::string module = text("model.name");
  if (module.empty()) {
    module = text("module");
  }
  if (module.empty()) {
    module = names.module_of(text("recipe"));
  }
  if (module.empty()) {
    module = names.module_of(text("config"));
  }
  const std::string flavor = text("model.flavor");
  const Setting* said = find(settings.given, "model.flavor");
  const Place place = said == nullptr ? Place{} : said->place;
  const TorchtitanModel* known = names.flavor_of(module, flavor);
  auto model = known != nullptr ? describe::load_model(known->catalogue, data)
                                : Result<describe::Model>(not_found("no such flavour"));
  if (!model) {
    draft.reading.unresolved.push_back(
        {fmt::format("model {}/{}", printable(module), printable(flavor)),
         said == nullptr ? "the settings name no model" : "no known flavour of torchtitan's",
         place});
    return;
  }
  draft.layers = model->layer_count();
  draft.reading.facts.push_back(
      {"model", known->catalogue, fmt::format("{} {}", module, flavor), place});
  draft.reading.model = std::move(*model);
}

Reading read_edition(const Settings& settings, Edition edition, const DataStore& data) {
  const TorchtitanNames names = torchtitan_names(data);
  Draft draft{edition, std::nullopt, {}};
  draft.reading.dialect = dialect_of(edition);
  draft.reading.unresolved = settings.unresolved;
  const Settings all = with_recipe(settings, draft.reading, names);
  read_torchtitan_model(all, draft, names, data);
  SettingReader reader(all, draft.reading);
  read_torchtitan_parts(reader, draft);
  for (const Setting& setting : settings.given) {
    if (!torchtitan::is_known(setting.key, edition)) {
      draft.reading.unknown.push_back({setting.key, setting.place});
    }
  }
  return std::move(draft.reading);
}

// "compile.no-enable" and "compile.no_enable" are the key "compile.enable" switched off.
Setting override_of(std::string_view flag, const Place& place) {
  std::string key(flag);
  std::replace(key.begin(), key.end(), '-', '_');
  const std::size_t dot = key.rfind('.');
  const std::size_t name = dot == std::string::npos ? 0 : dot + 1;
  if (std::string_view(key).substr(name).starts_with("no_")) {
    key.erase(name, 3);
    return {key, {"false"}, place};
  }
  return {key, {}, place};
}

}  // namespace

Writing write_torchtitan(const Job& job) {
  return write_edition(job, Edition::kMain);
}
Writing write_torchtitan_toml(const Job& job) {
  return write_edition(job, Edition::kToml);
}
Reading read_torchtitan(const Settings& settings, const DataStore& data) {
  return read_edition(settings, Edition::kMain, data);
}
Reading read_torchtitan_toml(const Settings& settings, const DataStore& data) {
  return read_edition(settings, Edition::kToml, data);
}

std::vector<Setting> torchtitan_overrides(std::span<const WordAt> words) {
  std::vector<Setting> settings;
  for (const WordAt& word : words) {
    const std::string_view text = word.text;
    if (text.starts_with("--") && text.size() > 2) {
      const std::size_t equals = text.find('=');
      settings.push_back(override_of(
          text.substr(2, equals == std::string_view::npos ? std::string_view::npos : equals - 2),
          word.place));
      if (equals != std::string_view::npos) {
        settings.back().values = {std::string(text.substr(equals + 1))};
        settings.back().place.length = 0;
      }
    } else if (!settings.empty()) {
      settings.back().values.emplace_back(text);
      settings.back().place = word.place;
    }
  }
  for (Setting& setting : settings) {
    if (setting.values.empty()) {
      setting.values = {"true"};
      setting.place.length = 0;
    } else if (setting.values.size() > 1) {
      setting.place.length = 0;
    }
    // --compile.components "model,loss" and --model.converters a,b are lists in one word.
    const bool list = setting.key == "compile.components" || setting.key == "model.converters";
    if (list && setting.values.size() == 1) {
      const std::string word = setting.values[0];
      setting.values.clear();
      for (const std::string_view part : split(word, ',')) {
        setting.values.emplace_back(trimmed(part));
      }
    }
  }
  return settings;
}

}  // namespace sextant::emit
