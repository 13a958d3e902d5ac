#include "app/plan_why_not.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "describe/layout/layout_text.h"
#include "explain/plan_words.h"
#include "search/space.h"

namespace sextant::app {
namespace {

using describe::Layout;

std::string pair_text(const Layout& layout, std::string_view key) {
  return fmt::format("{}={}", key, explain::value_of(layout, key));
}

// The text over the framework's defaults, formats and kernels as the problem has them; its keys.
Result<describe::LayoutReading> asked_layout(const PlanProblem& of, const std::string& text) {
  const search::Problem& problem = of.problem;
  Layout scratch;
  auto given = describe::set_keys(text, scratch);
  if (!given) {
    given.error().where = "--why-not";
    return tl::unexpected(given.error());
  }
  std::string whole = text;
  for (const auto& [key, value] : describe::layout_values(problem.job.layout)) {
    if (!is_searched(key) && std::find(given->begin(), given->end(), key) == given->end()) {
      whole += fmt::format("{}{}={}", whole.empty() ? "" : ",", key, value);
    }
  }
  SEXTANT_TRY(describe::LayoutReading reading,
              describe::parse_layout(whole, problem.job.framework));
  reading.given = std::move(*given);
  return reading;
}

// Rules about what is stated ask who stated it: the user, here.
std::vector<std::string> broken_as_stated(const PlanProblem& of,
                                          const describe::LayoutReading& asked) {
  PlanProblem stated = of;
  stated.problem.job.stated.insert(asked.given.begin(), asked.given.end());
  return broken_rules(stated, asked.layout);
}

// Values that were fixed otherwise, or that no search chooses.
std::vector<std::string> otherwise_fixed(const search::Problem& problem, const Layout& layout) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : describe::layout_values(layout)) {
    if (value == explain::value_of(problem.job.layout, key)) {
      continue;
    }
    if (problem.is_fixed(key)) {
      texts.push_back(
          fmt::format("{}={}, but {} is fixed", key, value, pair_text(problem.job.layout, key)));
    } else if (!is_searched(key)) {
      texts.push_back(
          fmt::format("{}={}, but the job has {}", key, value, pair_text(problem.job.layout, key)));
    }
  }
  return texts;
}

// The key that keeps it out of the space: with the plan's value for it, it is inside.
std::vector<std::string> outside_space(const search::Problem& problem, const Layout& layout,
                                       const Layout* best) {
  search::Space space(problem);
  std::vector<std::string> texts;
  if (space.holds(layout) || best == nullptr) {
    return texts;
  }
  for (const auto& [key, value] : describe::layout_values(*best)) {
    if (value == explain::value_of(layout, key)) {
      continue;
    }
    Layout changed = layout;
    if (describe::set_keys(fmt::format("{}={}", key, value), changed) && space.holds(changed)) {
      texts.push_back(pair_text(layout, key));
    }
  }
  if (texts.empty()) {
    texts.emplace_back("this combination, or it is another writing of one that is");
  }
  return texts;
}

}  // namespace

Result<explain::WhyNot> why_not(const PlanProblem& of, const std::string& text,
                                const Layout* best) {
  SEXTANT_TRY(const describe::LayoutReading reading, asked_layout(of, text));
  Layout layout = reading.layout;
  explain::WhyNot asked;
  asked.words = text;
  asked.broken = broken_as_stated(of, reading);
  if (!asked.broken.empty()) {
    return asked;
  }
  // dp that says what is left of the world says nothing.
  describe::Job job = of.problem.job;
  job.layout = layout;
  job.layout.dp = 0;
  if (layout.dp == job.dp() && !of.problem.is_fixed("dp")) {
    layout.dp = 0;
  }
  asked.outside = otherwise_fixed(of.problem, layout);
  if (asked.outside.empty()) {
    asked.outside = outside_space(of.problem, layout, best);
  }
  asked.row = plan_row(of, layout);
  asked.missing = asked.row->result.memory.fullest.least - of.problem.available();
  return asked;
}

}  // namespace sextant::app
