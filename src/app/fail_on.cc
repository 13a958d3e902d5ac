#include "app/fail_on.h"

#include <fmt/format.h>

#include "base/text.h"
#include "describe/words.h"

namespace sextant::app {
namespace {

constexpr std::string_view kGainAbove = "gain>";
constexpr std::string_view kSlowerBy = "slower>";

// "5%", "0.05".
Result<double> share_of(std::string_view text) {
  const bool is_percent = text.ends_with('%');
  const auto number = to_double(trimmed(text.substr(0, text.size() - (is_percent ? 1 : 0))));
  if (!number || *number < 0.0) {
    return invalid(fmt::format("'{}' is no share", printable(text)), "‹fail-on›", "5%, 0.05");
  }
  return is_percent ? *number / 100.0 : *number;
}

}  // namespace

Result<diagnose::Gate> gate_of(const std::string& word, const diagnose::RuleBook& book,
                               bool takes_slower) {
  diagnose::Gate gate;
  if (word.empty()) {
    return gate;
  }
  for (const std::string_view part : split(word, ',')) {
    const std::string_view condition = trimmed(part);
    if (condition.starts_with(kGainAbove)) {
      SEXTANT_TRY(gate.gain, share_of(condition.substr(kGainAbove.size())));
    } else if (takes_slower && condition.starts_with(kSlowerBy)) {
      SEXTANT_TRY(gate.slower, share_of(condition.substr(kSlowerBy.size())));
    } else if (book.find(condition) != nullptr) {
      gate.rules.emplace_back(condition);
    } else {
      std::vector<std::string> allowed{"gain>5%"};
      if (takes_slower) {
        allowed.emplace_back("slower>5%");
      }
      for (const diagnose::Rule& rule : book.rules()) {
        allowed.push_back(rule.id);
      }
      return describe::unknown_word(condition, std::move(allowed), "rule", "‹fail-on›");
    }
  }
  return gate;
}

}  // namespace sextant::app
