// What lies between two steps, term by term.
#include <algorithm>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "explain/plan_view.h"

namespace sextant::explain {

using sextant::to_text;

std::vector<TermChange> term_changes(const step::StepEstimate& from, const step::StepEstimate& to) {
  const std::vector<step::StepTerm> before = step::step_terms(from);
  const std::vector<step::StepTerm> after = step::step_terms(to);
  std::vector<TermChange> changes;
  for (std::size_t i = 0; i < before.size(); ++i) {
    changes.push_back({before[i], after[i].time - before[i].time});
  }
  return changes;
}

std::string decision_text(const step::Estimate& best, const step::Estimate& other) {
  // Of what makes up the difference, a tenth of it is worth a word.
  constexpr double kWorth = 0.1;
  constexpr std::size_t kMost = 3;
  std::vector<TermChange> changes = term_changes(best.step, other.step);
  std::stable_sort(changes.begin(), changes.end(), [](const TermChange& a, const TermChange& b) {
    return std::max(a.longer, -a.longer) > std::max(b.longer, -b.longer);
  });
  const Seconds largest = std::max(changes.front().longer, -changes.front().longer);
  if (largest <= best.step.step * 1e-9) {
    return "the same time, term by term";
  }
  std::vector<std::string> parts;
  for (const TermChange& change : changes) {
    const Seconds size = std::max(change.longer, -change.longer);
    if (size < largest * kWorth || parts.size() == kMost) {
      break;
    }
    parts.push_back(fmt::format("{} {}{} {}", change.term.name, parts.empty() ? "is " : "",
                                to_text(size), change.longer > Seconds() ? "longer" : "shorter"));
  }
  return join(parts, ", ");
}

std::optional<bool> inside_interval(const PlanAnswer& answer, const search::PlanRow& row) {
  if (!answer.differences) {
    return std::nullopt;
  }
  const search::PlanRow& best = answer.plans.front();
  describe::Job one = answer.job;
  one.layout = best.layout;
  describe::Job other = answer.job;
  other.layout = row.layout;
  return step::difference({one, best.result.step.step}, {other, row.result.step.step},
                          *answer.differences)
             .verdict() != step::Verdict::kFaster;
}

std::string_view interval_words(const PlanAnswer& answer, const search::PlanRow& row) {
  const std::optional<bool> inside = inside_interval(answer, row);
  return !inside   ? "no interval is known"
         : *inside ? "inside the interval of the difference"
                   : "outside the interval of the difference";
}

std::string mesh_text(const search::PlanRow& row) {
  const describe::Layout& at = row.layout;
  std::string text;
  for (const auto& [name, size] : {std::pair<std::string_view, std::int64_t>{"tp", at.tp},
                                   {"cp", at.cp},
                                   {"pp", at.pp},
                                   {"ep", at.ep},
                                   {"etp", at.etp},
                                   {"dp", row.dp}}) {
    if (size > 1) {
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, size);
    }
  }
  return text.empty() ? "one device" : text;
}

}  // namespace sextant::explain
