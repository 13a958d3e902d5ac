#include "emit/trainer_flags.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "describe/model/load_model.h"
#include "emit/other_words.h"

namespace sextant::emit {
namespace {

const Setting* flag(const Settings& settings, std::string_view name) {
  const Setting* found = find(settings.given, fmt::format("{}{}", kProgramFlag, name));
  return found != nullptr && found->values.size() == 1 ? found : nullptr;
}

std::optional<std::int64_t> flag_number(const Setting* setting) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const auto value = setting == nullptr ? std::nullopt : to_integer(setting->values.front());
  return value && *value >= 1 && *value <= kMost ? value : std::nullopt;
}

void add_fact(std::string field, std::string value, const Setting& setting, Reading& reading) {
  reading.facts.push_back(
      {std::move(field), std::move(value),
       fmt::format("--{} {}", setting.key.substr(kProgramFlag.size()), setting.values.front()),
       setting.place});
}

bool says(const Reading& reading, std::string_view field) {
  return std::any_of(reading.facts.begin(), reading.facts.end(),
                     [field](const Fact& fact) { return fact.field == field; });
}

void read_trainer_model(const Settings& settings, const describe::DataStore& data,
                        Reading& reading) {
  const Setting* said = flag(settings, "model_name_or_path");
  if (said == nullptr || reading.model) {
    return;
  }
  const std::string& path = said->values.front();
  if (auto model = hub_model(path, data)) {
    reading.model = std::move(*model);
    add_fact("model", reading.model->name, *said, reading);
  } else {
    reading.unresolved.push_back(
        {"--model_name_or_path " + path, "the catalogue has no such model", said->place});
  }
}

void read_sequence(const Settings& settings, Reading& reading) {
  constexpr std::array<std::string_view, 5> kNames{"max_seq_length", "max_length",
                                                   "model_max_length", "block_size", "cutoff_len"};
  for (const std::string_view name : kNames) {
    const Setting* said = flag(settings, name);
    if (const auto length = flag_number(said); length && !reading.sequence) {
      reading.sequence = length;
      add_fact("seq", std::to_string(*length), *said, reading);
    }
  }
}

void read_trainer_batch(const Settings& settings, Reading& reading) {
  const Setting* said = flag(settings, "per_device_train_batch_size");
  const auto each = flag_number(said);
  if (!each || reading.global_batch) {
    return;
  }
  if (!says(reading, "mbs")) {
    reading.layout.mbs = *each;
    add_fact("mbs", std::to_string(*each), *said, reading);
  }
  const Setting* steps = flag(settings, "gradient_accumulation_steps");
  if (reading.layout.dp > 0 && (steps == nullptr || flag_number(steps))) {
    reading.global_batch =
        saturating_product({*each, flag_number(steps).value_or(1), reading.layout.dp});
    add_fact("gbs", std::to_string(*reading.global_batch), steps == nullptr ? *said : *steps,
             reading);
    reading.facts.back().derived = true;
  }
}

// --bf16, --fp16, --mixed_precision of the program, where the file leaves the format open.
void read_trainer_format(const Settings& settings, Reading& reading) {
  if (says(reading, "precision")) {
    return;
  }
  const Setting* mixed = flag(settings, "mixed_precision");
  if (mixed != nullptr && is_one_of(mixed->values.front(), {"bf16", "fp16"}) &&
      describe::set_keys("precision=" + mixed->values.front(), reading.layout)) {
    add_fact("precision", mixed->values.front(), *mixed, reading);
    return;
  }
  for (const std::string_view format : {"bf16", "fp16"}) {
    const Setting* said = flag(settings, format);
    if (said != nullptr && to_lower(said->values.front()) == "true" &&
        describe::set_keys(fmt::format("precision={}", format), reading.layout)) {
      add_fact("precision", std::string(format), *said, reading);
    }
  }
}

// run_clm's --config_overrides "n_embd=8192,n_layer=64,…": the shape of a model made from nothing.
// Source: transformers 02348331, examples/pytorch/language-modeling/run_clm.py; names of GPT-2's
// and Llama's configurations.
void read_config_overrides(const Settings& settings, Reading& reading) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kNames{
      {{"n_embd", "hidden"},
       {"hidden_size", "hidden"},
       {"n_layer", "layers"},
       {"num_hidden_layers", "layers"},
       {"n_head", "heads"},
       {"num_attention_heads", "heads"},
       {"num_key_value_heads", "kv_heads"},
       {"intermediate_size", "ffn"},
       {"vocab_size", "vocab"}}};
  const Setting* said = flag(settings, "config_overrides");
  for (const std::string_view part :
       split(said == nullptr ? std::string_view() : std::string_view(said->values.front()), ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      continue;
    }
    const std::string_view name = part.substr(0, equals);
    const std::string_view value = part.substr(equals + 1);
    const auto* const row =
        std::ranges::find(kNames, name, &std::pair<std::string_view, std::string_view>::first);
    if (row != kNames.end() && to_integer(value) && !says(reading, row->second)) {
      add_fact(std::string(row->second), std::string(value), *said, reading);
    } else if (name == "gradient_checkpointing" && to_lower(value) == "true" &&
               !says(reading, "recompute")) {
      reading.layout.recompute = {.granularity = describe::Recompute::kFull, .modules = {}};
      add_fact("recompute", "full", *said, reading);
    }
  }
}

}  // namespace

std::optional<describe::Model> hub_model(std::string_view name, const describe::DataStore& data) {
  const std::string_view last = name.substr(name.rfind('/') + 1);
  if (last == "-" || last.ends_with(".json")) {  // to load_model, standard input and a path
    return std::nullopt;
  }
  auto model = describe::load_model(last, data);
  return model ? std::optional(*std::move(model)) : std::nullopt;
}

bool is_trainer_config(const Settings& settings) {
  return find(settings.given, "model_name_or_path") != nullptr &&
         find(settings.given, "per_device_train_batch_size") != nullptr;
}

Settings flags_of_trainer_config(Settings settings) {
  settings.dialect = Dialect::kAccelerate;
  for (Setting& setting : settings.given) {
    setting.key.insert(0, kProgramFlag);
  }
  return settings;
}

Settings filled_by_trainer(const Settings& settings) {
  // Source: transformers 02348331, integrations/deepspeed.py (HfTrainerDeepSpeedConfig,
  // trainer_config_process) and training_args.py (defaults).
  struct Filled {
    std::string_view key;
    std::string_view flag;
    std::string_view otherwise;
  };
  constexpr std::array<Filled, 5> kFilled{
      Filled{"train_micro_batch_size_per_gpu", "per_device_train_batch_size", "8"},
      Filled{"gradient_accumulation_steps", "gradient_accumulation_steps", "1"},
      Filled{"bf16.enabled", "bf16", "false"}, Filled{"bfloat16.enabled", "bf16", "false"},
      Filled{"fp16.enabled", "fp16", "false"}};
  const bool trainer = flag(settings, "per_device_train_batch_size") != nullptr ||
                       flag(settings, "output_dir") != nullptr ||
                       flag(settings, "model_name_or_path") != nullptr;
  if (!trainer) {
    return settings;
  }
  Settings made = settings;
  const auto is_auto = [](const Setting& one) {
    return one.values == std::vector<std::string>{"auto"};
  };
  for (Setting& setting : made.given) {
    const auto* const row = std::ranges::find(kFilled, std::string_view(setting.key), &Filled::key);
    if (row == kFilled.end() || !is_auto(setting)) {
      continue;
    }
    const bool open = std::ranges::any_of(settings.unresolved, [&](const Unresolved& one) {
      return one.any || one.key == fmt::format("{}{}", kProgramFlag, row->flag);
    });
    if (const Setting* said = flag(settings, row->flag)) {
      setting.values = {to_lower(said->values.front())};
      setting.place = said->place;
    } else if (!open) {
      setting.values = {std::string(row->otherwise)};
    }
  }
  std::erase_if(made.given, [&](const Setting& one) {  // the product of the others
    return one.key == "train_batch_size" && is_auto(one);
  });
  return made;
}

void read_trainer_flags(const Settings& settings, const describe::DataStore& data,
                        Reading& reading) {
  read_trainer_model(settings, data, reading);
  read_sequence(settings, reading);
  read_trainer_batch(settings, reading);
  read_trainer_format(settings, reading);
  read_config_overrides(settings, reading);
  const Setting* again = flag(settings, "gradient_checkpointing");
  if (again != nullptr && to_lower(again->values.front()) == "true" &&
      !says(reading, "recompute")) {
    reading.layout.recompute = {.granularity = describe::Recompute::kFull, .modules = {}};
    add_fact("recompute", "full", *again, reading);
  }
  std::erase_if(reading.unknown,
                [](const UnknownSetting& one) { return one.key.starts_with(kProgramFlag); });
}

}  // namespace sextant::emit
