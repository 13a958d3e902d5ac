#include "app/plan_why_not.h"

#include <algorithm>

#include <fmt/format.h>

#include "describe/layout/layout_text.h"
#include "search/choices.h"

namespace sextant::app {
namespace {

using describe::Layout;

// The text over the framework's defaults, formats and kernels as the problem has them; its keys.
Result<describe::LayoutReading> asked_layout(const PlanProblem& of, const std::string& text) {
  const search::Problem& problem = of.problem;
  Layout scratch;
  auto given = describe::set_keys(text, scratch);
  if (!given) {
    given.error().where = "‹why-not›";
    return tl::unexpected(given.error());
  }
  std::string whole = text;
  for (const auto& [key, value] : describe::layout_values(problem.job.layout)) {
    if (!search::is_searched(key) && std::find(given->begin(), given->end(), key) == given->end()) {
      whole += fmt::format("{}{}={}", whole.empty() ? "" : ",", key, value);
    }
  }
  SEXTANT_TRY(describe::LayoutReading reading,
              describe::parse_layout(whole, problem.job.framework));
  reading.given = std::move(*given);
  return reading;
}

}  // namespace

Result<search::WhyNot> why_not(const PlanProblem& of, const std::string& text, const Layout* best) {
  SEXTANT_TRY(const describe::LayoutReading asked, asked_layout(of, text));
  return search::why_not(of, asked, best);
}

}  // namespace sextant::app
