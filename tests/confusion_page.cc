#include "confusion_page.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/quantity_text.h"

namespace sextant::tests {
namespace {

constexpr std::string_view kHead = R"(# Diagnosis, checked

Written by a test (`Confusion.TheFirstCauseIsTheFaultAndThePageSaysSo`, with `SEXTANT_UPDATE_PAGES=1`), which compares. What a rule means: `sextant explain RULE`.

**Made** runs: the step model's own kernels and messages of five jobs, as programs of their ranks, simulated event by event across ranks and written as PyTorch writes profiles, on clocks that differ by up to 10 s and 50 ppm. One fault each, its place and size by a seed. Since the same run can be made without its fault, what mending it saves is known. `SEXTANT_LONG` asks seven more seeds.

)";

constexpr std::string_view kReal = R"(
## Real runs

[diagnosis_real.md](diagnosis_real.md), [diagnosis_recorded.md](diagnosis_recorded.md).
)";

std::string first_rule(const FaultResult& one) {
  const diagnose::Finding* first = first_cause(one.with.diagnosis);
  return first == nullptr ? "nothing" : first->rule;
}

// Rows are faults, columns what came first: numbers of the rules, and all others as one.
std::string confusion_table(const ConfusionResults& results) {
  std::vector<std::string> rules;
  for (const FaultWord& word : kFaultWords) {
    if (std::ranges::find(rules, word.rule) == rules.end()) {
      rules.emplace_back(word.rule);
    }
  }
  std::string text = "## Confusion table (made)\n\nColumns, what came first:";
  for (std::size_t i = 0; i < rules.size(); ++i) {
    text += fmt::format(" {} {}{}", i + 1, rules[i], i + 1 < rules.size() ? "," : ".");
  }
  text += "\n\n| fault |";
  std::string line = "|---|";
  for (std::size_t i = 0; i < rules.size(); ++i) {
    text += fmt::format(" {} |", i + 1);
    line += "---|";
  }
  text += " other |\n" + line + "---|\n";
  for (const FaultWord& word : kFaultWords) {
    std::map<std::string, int> counts;
    for (const FaultResult& one : results.faults) {
      if (one.made.fault.kind == word.kind) {
        const std::string first = first_rule(one);
        counts[std::ranges::find(rules, first) == rules.end() ? "other" : first] += 1;
      }
    }
    text += fmt::format("| {} |", word.word);
    for (const std::string& rule : rules) {
      text += counts.contains(rule) ? fmt::format(" {} |", counts[rule]) : " |";
    }
    text += counts.contains("other") ? fmt::format(" {} |\n", counts["other"]) : " |\n";
  }
  return text;
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100.0 * share);
}

std::string claims_table(const ConfusionResults& results) {
  std::string text =
      "\n## Claims (made)\n\nOf a step: what the fault's own finding says that mending it can gain "
      "at "
      "most, and what it saves. Kept: saved ≤ claimed ≤ 2 × saved.\n\n"
      "| fault | job | size | saved | claimed | kept |\n|---|---|---|---|---|---|\n";
  for (const FaultResult& one : results.faults) {
    const diagnose::Finding* found = one.expected();
    text += fmt::format("| {} | {} | {:.2f} | {} | {} | {} |\n", fault_word(one.made.fault.kind),
                        name_of(one.made.job), one.made.fault.size,
                        percent(one.saving() / one.with.true_step),
                        found == nullptr ? "–" : percent(found->per_step / one.with.true_step),
                        one.is_claim_kept() ? "yes" : "no");
  }
  return text;
}

std::string quiet_table(const ConfusionResults& results) {
  std::string text =
      "\n## Without a fault (made)\n\n| job | largest finding | of a step |\n|---|---|---|\n";
  for (const PlainResult& plain : results.plain) {
    const diagnose::Finding* first = first_cause(plain.run.diagnosis);
    text += fmt::format(
        "| {} | {} | {} |\n", name_of(plain.job), first == nullptr ? "none" : first->rule,
        first == nullptr ? "–" : percent(first->per_step / plain.run.diagnosis.step));
  }
  return text;
}

}  // namespace

std::string confusion_page(const ConfusionResults& results) {
  return std::string(kHead) + confusion_table(results) + claims_table(results) +
         quiet_table(results) + std::string(kReal);
}

std::string to_line(const FaultResult& one) {
  const diagnose::Finding* found = one.expected();
  const diagnose::Finding* first = first_cause(one.with.diagnosis);
  return fmt::format(
      "{} (seed {}, rank {}, size {:.2f}, {}): saved {}, its finding claims {}; first "
      "comes {}: {}",
      fault_word(one.made.fault.kind), one.made.plan.seed, one.made.fault.rank, one.made.fault.size,
      name_of(one.made.job), to_text(one.saving()),
      found == nullptr ? "nothing" : to_text(found->per_step), first_rule(one),
      first == nullptr ? "" : first->cause);
}

}  // namespace sextant::tests
