// The rule book: its parts bound in the order of the alphabet.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "describe/layout/rule_book_parts.h"

namespace sextant::describe {
namespace {

std::vector<Rule> bound_book() {
  std::vector<Rule> rules;
  for (const std::span<const Rule> part :
       {core_rules(), device_rules(), megatron_rules(), megatron_setting_rules(),
        torchtitan_rules(), other_framework_rules()}) {
    rules.insert(rules.end(), part.begin(), part.end());
  }
  std::sort(rules.begin(), rules.end(), [](const Rule& a, const Rule& b) { return a.id < b.id; });
  return rules;
}

}  // namespace

std::span<const Rule> rule_book() {
  static const std::vector<Rule> kBook = bound_book();
  return kBook;
}

Result<Rule> find_rule(std::string_view id) {
  std::vector<std::string> ids;
  for (const Rule& rule : rule_book()) {
    if (to_lower(rule.id) == to_lower(id)) {
      return rule;
    }
    ids.emplace_back(rule.id);
  }
  return unknown_word(id, std::move(ids), "rule", {});
}

}  // namespace sextant::describe
