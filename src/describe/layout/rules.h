// What makes a layout legal: rules with ids. The core rules hold anywhere (check_rules); those of
// one framework are asked by describe/layout/framework_rules.h, and those about settings that a
// Layout does not hold by emit/setting_rules.h. All stand in one book.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/layout/job.h"
#include "describe/words.h"

namespace sextant::describe {

struct Rule {
  std::string_view id;         // "HEADS-TP"
  std::string_view title;      // one line
  std::string_view formula;    // what must hold
  std::string_view why;        // what breaks otherwise, and where that is known from
  std::string_view fix;        // what to change
  std::string_view framework;  // whose rule it is ("megatron-core"); empty: a core rule
  std::string_view enforced;   // where a framework checks it: "Megatron arguments.py:432"
  // The frameworks' requirements it stands for, numbered as docs/rules.md lists them: "M7, T3".
  std::string_view stands_for;
};

// All rules, sorted by id. MEMORY-FIT is applied by cost/memory.
std::span<const Rule> rule_book();
// The rule of that id (case ignored), or an Error with the nearest ids.
Result<Rule> find_rule(std::string_view id);
// The book as Markdown: the frameworks' requirements with their rules, then every rule.
std::string rules_page();

// Where the sources are that `enforced` names.
struct RuleSource {
  std::string_view framework;  // as users say it
  std::string_view revision;
  std::string_view letter;        // of its requirements: 'M' of "M7"
  std::int64_t requirements = 0;  // how many there are
};
std::span<const RuleSource> rule_sources();

// Can the schedule run so many chunks a rank of a pipeline?
bool runs_chunks(Schedule schedule, std::int64_t vpp);

// What a broken rule does to the run.
enum class Severity {
  kIllegal,  // the framework refuses, or the run cannot work
  kRisk,     // it starts, but the framework changes what was asked for, or it may fail later
  kNote,     // it runs as asked; there is something to know
};
inline constexpr std::array<Word<Severity>, 3> kSeverityWords{
    {{Severity::kIllegal, "illegal"}, {Severity::kRisk, "risk"}, {Severity::kNote, "note"}}};

// A rule that does not hold: the answer "no" to a legal question, not an Error.
struct Violation {
  std::string_view rule;
  std::string message;               // what, with the numbers seen
  std::vector<std::string> nearest;  // the nearest legal values: "tp=4", "tp=8"
  Severity severity = Severity::kIllegal;
};

// Every core rule the job breaks, in rule order. Empty: legal anywhere.
std::vector<Violation> check_rules(const Job& job);

}  // namespace sextant::describe
