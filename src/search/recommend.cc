#include "search/recommend.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace sextant::search {
namespace {

// Changes of the job, which no two layouts of one job differ by.
bool is_of_jobs(std::string_view name) {
  constexpr std::array<std::string_view, 4> kOfJobs{"devices", "batch", "sequence", "scale"};
  return std::ranges::find(kOfJobs, name) != kOfJobs.end();
}

step::Difference difference_of_plans(const Problem& problem, const Plan& one, const Plan& other,
                                     const describe::DifferenceSpreads& spreads) {
  describe::Job first = problem.job;
  first.layout = one.layout;
  describe::Job second = problem.job;
  second.layout = other.layout;
  return step::difference({first, one.time.step}, {second, other.time.step}, spreads);
}

}  // namespace

double most_given_up(const describe::DifferenceSpreads& spreads) {
  double least = 1.0 + kMostGivenUp;
  for (const describe::DifferenceSpread& one : spreads.file().classes) {
    if (!is_of_jobs(one.name)) {
      least = std::min(least, one.factor);
    }
  }
  return least - 1.0;
}

std::size_t recommended_of(std::span<const Contender> contenders, double given_up) {
  const double fastest = std::ranges::min(contenders, {}, &Contender::value).value;
  const double last = fastest * (1.0 + given_up);
  std::size_t best = 0;
  bool any = false;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const Contender& one = contenders[i];
    const Contender& known = contenders[best];
    if (one.value <= last && (!any || one.points < known.points ||
                              (one.points == known.points && one.value < known.value))) {
      best = i;
      any = true;
    }
  }
  return best;
}

Recommended recommended(const Problem& problem, const Found& found, const Simplicity& measure,
                        const describe::DifferenceSpreads& spreads) {
  const Plan& fastest = found.plans.front();
  const Plan& plan = found.simplest ? *found.simplest : fastest;
  return {plan, measure.of(plan.layout, plan.device), measure.of(fastest.layout, fastest.device),
          difference_of_plans(problem, plan, fastest, spreads)};
}

}  // namespace sextant::search
