#include "app/plan_baselines.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "search/baselines/baselines.h"

namespace sextant::app {
Result<std::vector<explain::PlanBaseline>> plan_baselines(const PlanProblem& of,
                                                          const std::string& names) {
  std::vector<explain::PlanBaseline> list;
  for (const std::string_view name : split(names, ',')) {
    SEXTANT_TRY(const search::Baseline which,
                describe::parse_word<search::Baseline>(search::kBaselineWords, name, "baseline",
                                                       "‹baselines›"));
    const search::BaselineResult result = search::baseline(which, of.problem);
    explain::PlanBaseline row;
    row.name = name;
    row.calls = result.calls;
    if (result.plan) {
      row.words = describe::to_text(result.plan->layout);
      row.step = result.plan->time.step;
    }
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace sextant::app
