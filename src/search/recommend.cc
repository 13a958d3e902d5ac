#include "search/recommend.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "search/space.h"

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

std::optional<Recommended> recommended(const Problem& problem, const Plan& fastest,
                                       const FindOptions& options,
                                       const describe::DifferenceSpreads& spreads) {
  const Space space(problem);
  const Simplicity measure(space.choices(), problem.job, spreads);
  const Burdens most = measure.of(fastest.layout, fastest.device);
  FindOptions one{.top = 1,
                  .computing_weight = options.computing_weight,
                  .threads = options.threads,
                  .stop = options.stop};
  const Seconds below = fastest.value(options.computing_weight) * (1.0 + most_given_up(spreads));
  Plan best = fastest;
  // Nothing has `none` points or fewer, the best has `some`. A search without anything heavy is
  // short; after it, whether there is anything simpler at all is asked first.
  int none = -1;
  int some = most.total();
  bool any = false;
  while (some - none > 1) {
    const bool light = none < 0 && some > kHeavy;
    const int points = light ? kHeavy - 1 : any ? none + (some - none) / 2 : some - 1;
    one.only = Only{&measure, points, below};
    const Found found = find_plans(space, one);
    if (!found.complete) {
      return std::nullopt;
    }
    if (found.plans.empty()) {
      none = points;
    } else {
      any = true;
      best = found.plans.front();
      some = measure.of(best.layout, best.device).total();
    }
  }
  return Recommended{best, measure.of(best.layout, best.device), most,
                     difference_of_plans(problem, best, fastest, spreads)};
}

}  // namespace sextant::search
