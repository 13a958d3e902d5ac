#include "profile/recorded_steps.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace sextant::profile {

std::vector<timeline::RecordedStep> ordered_steps(std::vector<timeline::RecordedStep> marks) {
  using timeline::RecordedStep;
  std::sort(marks.begin(), marks.end(), [](const RecordedStep& a, const RecordedStep& b) {
    return std::tuple(a.rank, a.start_ns, b.end_ns, a.number) <
           std::tuple(b.rank, b.start_ns, a.end_ns, b.number);
  });
  std::vector<RecordedStep> steps;
  std::set<std::pair<RankId, std::int64_t>> seen;
  for (const RecordedStep& mark : marks) {
    if (!seen.insert({mark.rank, mark.number}).second) {
      continue;
    }
    if (!steps.empty() && steps.back().rank == mark.rank && steps.back().end_ns > mark.start_ns) {
      steps.back().end_ns = mark.start_ns;
    }
    steps.push_back(mark);
  }
  return steps;
}

}  // namespace sextant::profile
