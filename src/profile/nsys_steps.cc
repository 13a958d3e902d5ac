// Which of the ranges that are named like steps are the steps.
#include <algorithm>
#include <tuple>
#include <utility>

#include "profile/nsys_parts.h"

namespace sextant::profile {

void NsysReading::choose_steps() {
  struct Choice {
    std::int64_t covered_ns = 0;
    const std::vector<NamedRange>* ranges = nullptr;
  };
  std::map<NsysProcess, Choice> best;
  for (auto& [key, ranges] : step_rows_) {
    std::sort(ranges.begin(), ranges.end(),
              [](const NamedRange& a, const NamedRange& b) { return a.start_ns < b.start_ns; });
    std::int64_t covered_ns = 0;
    bool overlap = false;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      overlap = overlap || (i > 0 && ranges[i].start_ns < ranges[i - 1].end_ns);
      covered_ns += ranges[i].end_ns - ranges[i].start_ns;
    }
    if (overlap || (ranges.size() == 1 && !ranges.front().number)) {
      continue;
    }
    Choice& choice = best[nsys_process(key.first)];
    if (choice.ranges == nullptr || covered_ns > choice.covered_ns) {
      choice = {covered_ns, &ranges};
    }
  }
  for (const auto& [process, choice] : best) {
    for (const RankId rank : ranks_of_[process]) {
      std::int64_t number = 0;
      for (const NamedRange& range : *choice.ranges) {
        number = range.number.value_or(number);
        out_.steps.push_back({rank, number, range.start_ns, range.end_ns});
        ++number;
      }
    }
  }
  std::sort(out_.steps.begin(), out_.steps.end(), [](const auto& a, const auto& b) {
    return std::tie(a.rank, a.start_ns) < std::tie(b.rank, b.start_ns);
  });
}

}  // namespace sextant::profile
