// What makes a layout legal anywhere: core rules with ids. Frameworks' own rules join the same book
// later.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/layout/job.h"

namespace sextant::describe {

struct Rule {
  std::string_view id;       // "HEADS-TP"
  std::string_view title;    // one line
  std::string_view formula;  // what must hold
  std::string_view why;      // what breaks otherwise, and where that is known from
  std::string_view fix;      // what to change
};

// All rules, sorted by id. MEMORY-FIT is applied by cost/memory, the others by check_rules.
std::span<const Rule> rule_book();
// The rule of that id (case ignored), or an Error with the nearest ids.
Result<Rule> find_rule(std::string_view id);

// A rule that does not hold: the answer "no" to a legal question, not an Error.
struct Violation {
  std::string_view rule;
  std::string message;               // what, with the numbers seen
  std::vector<std::string> nearest;  // the nearest legal values: "tp=4", "tp=8"
};

// Every core rule the job breaks, in rule order. Empty: legal anywhere.
std::vector<Violation> check_rules(const Job& job);

}  // namespace sextant::describe
