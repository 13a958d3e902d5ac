#include "emit/setting_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/legality.h"
#include "emit/setting_rules_view.h"

namespace sextant::emit {
namespace {

using Violations = std::vector<describe::Violation>;

// Of a repeated key the last stands, wherever the framework reads it at all.
void check_repeated(const Asked& asked) {
  const Settings& settings = asked.say.settings();
  const bool refuses = settings.dialect == Dialect::kDeepspeed;
  std::vector<const Setting*> sorted;
  for (const Setting& setting : settings.given) {
    sorted.push_back(&setting);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Setting* a, const Setting* b) { return a->key < b->key; });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const Setting& first = *sorted[i - 1];
    const Setting& second = *sorted[i];
    if (first.key != second.key || (!refuses && first.values == second.values)) {
      continue;
    }
    const std::string where = to_text(second.place);
    asked.broken(
        refuses ? "DEEPSPEED-DUPLICATE" : "SETTING-REPEATED",
        fmt::format("{} is given twice: {} and {}{}", printable(first.key),
                    printable(join(first.values, " ")), printable(join(second.values, " ")),
                    where.empty() ? "" : " (" + where + ")"),
        {}, refuses ? describe::Severity::kIllegal : describe::Severity::kRisk);
  }
}

void check_dialect(const Asked& asked) {
  switch (asked.say.settings().dialect) {
    case Dialect::kMegatron:
    case Dialect::kBridge:
      check_megatron_settings(asked);
      check_megatron_pipeline(asked);
      check_megatron_sharding(asked);
      break;
    case Dialect::kTorchtitan:
    case Dialect::kTorchtitanToml:
      check_torchtitan_settings(asked);
      break;
    case Dialect::kDeepspeed:
      check_deepspeed_settings(asked);
      break;
    case Dialect::kMaxtext:
      check_maxtext_settings(asked);
      break;
    case Dialect::kAccelerate:
      check_accelerate_settings(asked);
      break;
    case Dialect::kNanotron:
      check_nanotron_settings(asked);
      break;
  }
}

void sort_by_rule(Violations& found) {
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.rule < b.rule; });
}

// A rule about the layout that a setting has taken over.
bool is_lifted(std::string_view rule, const SettingsView& say) {
  return (rule == "MEGATRON-VPP-MICROBATCHES" && say.given("microbatch_group_size_per_vp_stage")) ||
         (rule == "MEGATRON-BATCH-MICRO" && say.on("decrease_batch_size_if_needed"));
}

}  // namespace

std::vector<describe::Violation> check_settings(const Settings& settings,
                                                const describe::Job& job) {
  Violations found;
  const SettingsView view(settings);
  const Asked asked{view, job, found};
  check_repeated(asked);
  check_dialect(asked);
  sort_by_rule(found);
  return found;
}

std::vector<describe::Violation> check_layout(const Settings& settings, const describe::Job& job) {
  const SettingsView view(settings);
  Violations found = describe::broken_rules(job);
  std::erase_if(found, [&view](const describe::Violation& violation) {
    return is_lifted(violation.rule, view);
  });
  return found;
}

std::vector<describe::Violation> check_all(const Settings& settings, const describe::Job& job) {
  Violations all = check_layout(settings, job);
  if (job.framework == describe::Framework::kMegatronDeepspeed) {
    return all;  // the rules about settings are those of Megatron-LM, which took another way
  }
  for (describe::Violation& violation : check_settings(settings, job)) {
    const bool said = std::any_of(all.begin(), all.end(), [&](const auto& other) {
      return other.rule == violation.rule && other.severity == violation.severity;
    });
    if (!said) {
      all.push_back(std::move(violation));
    }
  }
  sort_by_rule(all);
  return all;
}

}  // namespace sextant::emit
