#include "entry_sayings.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "kb/entry_says.h"
#include "verify/claims.h"

namespace sextant::tests {
namespace {

using describe::Job;
using step::Direction;
using step::Quantity;

bool is_tpu(std::string_view device) {
  return device.starts_with("tpu");
}

// 1: grows, −1: shrinks, 0: neither can be said. Words: more is recomputed.
int growth(std::string_view before, std::string_view after) {
  const auto number = [](std::string_view value) -> std::optional<std::int64_t> {
    return value == "none"                  ? 0
           : value.starts_with("selective") ? 1
           : value == "full"                ? 2
                                            : to_integer(value);
  };
  const auto old_value = number(before);
  const auto new_value = number(after);
  return !old_value || !new_value || *old_value == *new_value ? 0
         : *new_value > *old_value                            ? 1
                                                              : -1;
}

// Does it go where the entry goes? Only of keys that both name on both sides.
int sense_of(const std::vector<kb::NamedKey>& entry, const LayoutValues& before,
             const LayoutValues& after) {
  int sense = 0;
  for (const kb::NamedKey& one : entry) {
    const auto old_value = before.find(one.key);
    const auto new_value = after.find(one.key);
    if (one.key == "dp" || old_value == before.end() || old_value->second == new_value->second) {
      continue;
    }
    const int way = growth(one.before, one.after) * growth(old_value->second, new_value->second);
    if (way == 0 || (sense != 0 && way != sense)) {
      return 0;
    }
    sense = way;
  }
  return sense;
}

LayoutValues values_of(const Job& job) {
  LayoutValues values;
  for (const auto& [key, value] : describe::layout_values(job.layout)) {
    values[std::string(key)] = value;
  }
  values["dp"] = std::to_string(job.dp());
  return values;
}

// Is the entry about none of the keys, their kinds of change and their axes?
bool is_foreign(const kb::Entry& entry, const std::vector<kb::NamedKey>& named,
                const LayoutValues& before, const LayoutValues& after) {
  for (const auto& [key, value] : after) {
    if (before.at(key) == value) {
      continue;
    }
    const std::string_view change = kb::change_of_key(key);
    const auto is_it = [change](std::string_view other) { return other == change; };
    const bool named_key =
        std::ranges::any_of(named, [&key](const kb::NamedKey& one) { return one.key == key; });
    const bool of_axis = std::ranges::any_of(entry.about.axes, [&](kb::Theme theme) {
      return std::ranges::any_of(kb::changes_of(theme), is_it);
    });
    if (named_key || of_axis || std::ranges::any_of(entry.about.changes, is_it)) {
      return false;
    }
  }
  return true;
}

// Of the job's framework and class of model, or of any.
bool holds_for(const kb::Entry& entry, const Job& job) {
  const auto& frameworks = entry.about.frameworks;
  const auto& models = entry.about.models;
  const auto own =
      describe::has_experts(job.model) ? kb::ModelClass::kExperts : kb::ModelClass::kDense;
  return (frameworks.empty() || std::ranges::find(frameworks, job.framework) != frameworks.end()) &&
         (models.empty() || std::ranges::find(models, own) != models.end());
}

bool one_thing(Quantity one, Quantity other) {
  return one == other || (verify::is_speed(one) && verify::is_speed(other));
}

}  // namespace

CitedFor cited_for(const Job& before, const Job& after, const verify::Claim& claim) {
  return {before, values_of(before), values_of(after), claim};
}

Saying saying_of(const kb::Entry& entry, const CitedFor& what) {
  const bool tpu = is_tpu(what.job.cluster.device.id);
  const auto& devices = entry.about.devices;
  const auto other_family = [tpu](const std::string& device) { return is_tpu(device) != tpu; };
  if (!devices.empty() && std::ranges::all_of(devices, other_family)) {
    return Saying::kElsewhere;
  }
  const std::vector<kb::NamedKey> named = kb::changed_keys(entry);
  if (entry.setting.empty() && !entry.about.changes.empty() &&
      is_foreign(entry, named, what.before, what.after)) {
    return Saying::kOtherThing;
  }
  const int sense = sense_of(named, what.before, what.after);
  const auto effect = kb::effect_of(entry);
  if (!effect || sense == 0 || effect->direction == Direction::kSame ||
      !one_thing(effect->quantity, what.claim.quantity) || !holds_for(entry, what.job)) {
    return Saying::kUnclear;
  }
  const Direction says = sense > 0 ? effect->direction : step::opposite_of(effect->direction);
  return says == what.claim.direction ? Saying::kSaysSo : Saying::kContrary;
}

}  // namespace sextant::tests
