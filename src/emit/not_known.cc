#include "emit/not_known.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "emit/trainer_flags.h"

namespace sextant::emit {
namespace {

// What a launch line or a configuration usually settles; the rest follows from these or is a
// detail.
constexpr std::array<std::string_view, 11> kMainFields{
    "tp", "pp", "vpp", "cp", "ep", "etp", "sp", "zero", "mbs", "recompute", "precision"};

// One value of each kind that readers take; the first ones are what most settings hold.
constexpr std::array<std::string_view, 8> kSamples{
    "2", "true", "full", "bf16", "hybrid", "selective", "optim_grads_params", "float8"};

// More settings than this are not asked about one by one: everything is taken as open.
constexpr std::size_t kMostAsked = 64;

// Words inside a key that say what it is about, the more exact first.
struct Stem {
  std::string_view text;
  std::string_view field;
};
constexpr std::array kStems{Stem{"zero_stage", "zero"},
                            Stem{"zero_optimization", "zero"},
                            Stem{"fsdp", "zero"},
                            Stem{"expert_tensor", "etp"},
                            Stem{"expert_model_parallel", "ep"},
                            Stem{"expert_parallel", "ep"},
                            Stem{"context_parallel", "cp"},
                            Stem{"sequence_parallel_size", "cp"},
                            Stem{"virtual_pipeline", "vpp"},
                            Stem{"tensor_parallel", "tp"},
                            Stem{"tensor_model_parallel", "tp"},
                            Stem{"pipeline_parallel", "pp"},
                            Stem{"pipeline_model_parallel", "pp"},
                            Stem{"pipe_parallel", "pp"},
                            Stem{"micro_batch", "mbs"},
                            Stem{"train_batch_size", "mbs"},
                            Stem{"training.batch_size", "mbs"},
                            Stem{"checkpoint_activations", "recompute"},
                            Stem{"activation_checkpoint", "recompute"},
                            Stem{"recompute", "recompute"},
                            Stem{"mixed_precision", "precision"},
                            Stem{"bf16", "precision"},
                            Stem{"fp16", "precision"},
                            Stem{"fp8", "precision"}};

bool has_fact(const Reading& reading, std::string_view field) {
  return std::ranges::any_of(reading.facts, [&](const Fact& fact) { return fact.field == field; });
}

// The fields that the setting of this key speaks of.
std::vector<std::string> fields_said_by(const std::string& key, const Settings& settings,
                                        const SettingsReader& reader) {
  static const std::string kAsked = "\x01";
  Settings with = settings;
  with.unresolved.clear();  // of no account here, and there may be many
  std::vector<std::string> fields;
  with.given.push_back({key, {}, {kAsked, 0, 0, 0}});
  for (const std::string_view sample : kSamples) {
    with.given.back().values = {std::string(sample)};
    for (const Fact& fact : reader(with).facts) {
      if (fact.place.file == kAsked && std::ranges::find(fields, fact.field) == fields.end()) {
        fields.push_back(fact.field);
      }
    }
  }
  return fields;
}

// Every main field that nothing has said.
void open_unsaid_fields(Reading& reading) {
  for (const std::string_view field : kMainFields) {
    if (!has_fact(reading, field)) {
      reading.not_known.emplace(field);
    }
  }
}

void ask_unresolved(const Settings& settings, const SettingsReader& reader, Reading& reading) {
  std::set<std::string, std::less<>> asked;
  for (const Unresolved& one : reading.unresolved) {
    if (one.any || (!one.key.empty() && asked.size() >= kMostAsked)) {
      open_unsaid_fields(reading);
    } else if (!one.key.empty() && asked.insert(one.key).second) {
      for (std::string& field : fields_said_by(one.key, settings, reader)) {
        reading.not_known.insert(std::move(field));
      }
    }
  }
}

void ask_unknown(Reading& reading) {
  for (const UnknownSetting& one : reading.unknown) {
    std::string key = to_lower(one.key);
    std::ranges::replace(key, '-', '_');
    const auto* const stem = std::ranges::find_if(
        kStems, [&](const Stem& each) { return key.find(each.text) != std::string::npos; });
    if (stem != kStems.end() && !has_fact(reading, stem->field)) {
      reading.not_known.emplace(stem->field);
    }
  }
}

// A training program of one's own passes these to DeepSpeed and Accelerate, whatever the files say.
void ask_trainer(const Settings& settings, Reading& reading) {
  if (settings.dialect != Dialect::kDeepspeed && settings.dialect != Dialect::kAccelerate) {
    return;
  }
  const bool file = std::ranges::any_of(
      settings.given, [](const Setting& one) { return !one.key.starts_with(kProgramFlag); });
  for (const std::string_view field : kMainFields) {
    const bool program = field == "mbs" || field == "precision" || field == "recompute";
    if ((program || !file) && !has_fact(reading, field)) {
      reading.not_known.emplace(field);
    }
  }
}

void add_derived(Reading& reading) {
  const auto open = [&](std::initializer_list<std::string_view> fields) {
    return std::ranges::any_of(
        fields, [&](std::string_view field) { return reading.not_known.contains(field); });
  };
  const bool stated = std::ranges::any_of(
      reading.facts, [](const Fact& fact) { return fact.field == "dp" && !fact.derived; });
  if (!stated && open({"tp", "pp", "cp"})) {
    reading.not_known.emplace("dp");
  }
  if (!open({"dp", "tp", "pp", "cp", "mbs"})) {
    return;
  }
  for (const Fact& fact : reading.facts) {
    if (fact.derived) {
      reading.not_known.insert(fact.field);
    }
  }
  if (!has_fact(reading, "gbs")) {  // what the framework would take
    reading.global_batch.reset();
  }
}

}  // namespace

void mark_not_known(const Settings& settings, const SettingsReader& reader, Reading& reading) {
  if (!reading.framework_known) {
    reading.not_known.insert(kMainFields.begin(), kMainFields.end());
    reading.not_known.emplace("dp");
    return;
  }
  ask_unresolved(settings, reader, reading);
  ask_unknown(reading);
  ask_trainer(settings, reading);
  add_derived(reading);
  std::erase_if(reading.facts,
                [&](const Fact& fact) { return reading.not_known.contains(fact.field); });
  if (reading.not_known.contains("dp")) {
    reading.layout.dp = 0;
  }
  const auto forget = [&](std::string_view field, std::optional<std::int64_t>& value) {
    if (reading.not_known.contains(field)) {
      value.reset();
    }
  };
  forget("devices", reading.devices);
  forget("seq", reading.sequence);
  forget("gbs", reading.global_batch);
  if (reading.not_known.contains("model")) {
    reading.model.reset();
  }
}

std::string layout_text(const Reading& reading) {
  const auto plain = describe::layout_values(describe::Layout{});
  const auto values = describe::layout_values(reading.layout);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& [key, value] = values[i];
    if (reading.not_known.contains(key)) {
      parts.push_back(fmt::format("{}=?", key));
    } else if (value != plain[i].second) {
      parts.push_back(fmt::format("{}={}", key, value));
    }
  }
  return join(parts, ",");
}

}  // namespace sextant::emit
