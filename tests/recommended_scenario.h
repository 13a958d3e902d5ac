// What is recommended for a scenario, and what a plainer pipeline would cost.
#pragma once

#include <cstdint>
#include <optional>

#include "describe/difference_spread.h"
#include "search/objective.h"
#include "search/recommend.h"
#include "search/space.h"

namespace sextant::tests {

struct RecommendedScenario {
  search::Plan fastest;
  search::Plan recommended;
  // Of stages of different lengths, or of more chunks a rank than a plain pipeline has.
  bool is_odd = false;
  // Where it is: the fastest of all that have neither. Nothing where none fits.
  std::optional<search::Plan> plain;
};

inline bool is_odd(const describe::Layout& layout, const search::Simplicity& measure) {
  const search::Burdens all = measure.of_mesh(layout);
  return all[search::Burden::kCut] >= search::kHeavy ||
         all[search::Burden::kChunks] >= search::kHeavy;
}

// Stages of one length, few chunks.
inline std::optional<search::Plan> fastest_plain(const search::Problem& problem) {
  std::optional<search::Plan> best;
  for (std::int64_t chunks = 1; chunks <= search::kFewChunks; ++chunks) {
    search::Problem even = problem;
    even.job.layout.split = {};
    even.job.layout.vpp = chunks;
    even.fixed.insert(even.fixed.end(), {"layers_per_stage", "vpp"});
    const auto plan = search::fastest_plan(even, {});
    if (plan && (!best || plan->time.step < best->time.step)) {
      best = plan;
    }
  }
  return best;
}

// Nothing where no layout fits.
inline std::optional<RecommendedScenario> recommended_scenario(
    const search::Problem& problem, const describe::DifferenceSpreads& spreads) {
  const search::Space space(problem);
  const search::Simplicity measure(space.choices(), problem.job, spreads);
  search::FindOptions options;
  options.top = 1;
  options.simplest = {&measure, search::most_given_up(spreads)};
  const search::Found found = search::find_plans(space, options);
  if (found.plans.empty() || !found.simplest) {
    return std::nullopt;
  }
  RecommendedScenario answer{found.plans.front(), *found.simplest, false, std::nullopt};
  answer.is_odd = is_odd(answer.recommended.layout, measure);
  if (answer.is_odd) {
    answer.plain = fastest_plain(problem);
  }
  return answer;
}

}  // namespace sextant::tests
