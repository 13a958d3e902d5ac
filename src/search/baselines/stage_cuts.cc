#include "search/baselines/stage_cuts.h"

#include <algorithm>
#include <limits>

#include "base/integers.h"

namespace sextant::search {
namespace {

constexpr Seconds kNever(std::numeric_limits<double>::infinity());

class Cutter {
 public:
  Cutter(const RunTimes& times, const CutQuestion& question)
      : times_(times),
        stages_(question.stages),
        too_large_(static_cast<std::size_t>(question.stages)),
        sums_(static_cast<std::size_t>((question.stages + 1) * (times.layers() + 1))),
        before_(sums_.size()) {
    for (const TooLarge& run : question.too_large) {
      too_large_[static_cast<std::size_t>(run.stage)].push_back(run);
    }
  }

  // The least sum of stage times where none is longer than `bound`.
  Seconds least_sum(Seconds bound) {
    std::fill(sums_.begin(), sums_.end(), kNever);
    sums_[0] = Seconds();
    const std::int64_t layers = times_.layers();
    for (std::int64_t stage = 1; stage <= stages_; ++stage) {
      // As many layers are left as stages after this one.
      for (std::int64_t last = stage; last <= layers - (stages_ - stage); ++last) {
        find_first(stage, last, bound);
      }
    }
    return sums_[at(stages_, layers)];
  }

  // Of the last least_sum().
  [[nodiscard]] std::vector<std::int64_t> layers() const {
    std::vector<std::int64_t> list;
    std::int64_t last = times_.layers();
    for (std::int64_t stage = stages_; stage > 0; --stage) {
      const std::int64_t first = before_[at(stage, last)];
      list.push_back(last - first);
      last = first;
    }
    std::reverse(list.begin(), list.end());
    return list;
  }

 private:
  // Where the run that ends `stage` at `last` best begins.
  void find_first(std::int64_t stage, std::int64_t last, Seconds bound) {
    Seconds& sum = sums_[at(stage, last)];
    for (std::int64_t first = last - 1; first >= stage - 1; --first) {
      const Seconds time = times_.at(first, last);
      const Seconds with = sums_[at(stage - 1, first)] + time;
      if (time <= bound && with < sum && fits(stage - 1, first, last)) {
        sum = with;
        before_[at(stage, last)] = first;
      }
    }
  }
  [[nodiscard]] bool fits(std::int64_t stage, std::int64_t first, std::int64_t last) const {
    const std::vector<TooLarge>& runs = too_large_[static_cast<std::size_t>(stage)];
    return std::none_of(runs.begin(), runs.end(), [&](const TooLarge& run) {
      return first <= run.first && run.last <= last;
    });
  }
  [[nodiscard]] std::size_t at(std::int64_t stage, std::int64_t last) const {
    return static_cast<std::size_t>(stage * (times_.layers() + 1) + last);
  }
  const RunTimes& times_;
  std::int64_t stages_ = 0;
  std::vector<std::vector<TooLarge>> too_large_;  // by stage
  std::vector<Seconds> sums_;         // of the first `stage` stages over the first `last` layers
  std::vector<std::int64_t> before_;  // where the last of them begins
};

// Bounds on the slowest stage worth trying: times that some run has.
std::vector<Seconds> bounds_of(const RunTimes& times) {
  std::vector<Seconds> list;
  for (std::int64_t first = 0; first < times.layers(); ++first) {
    for (std::int64_t last = first + 1; last <= times.layers(); ++last) {
      list.push_back(times.at(first, last));
    }
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

}  // namespace

std::optional<StageCuts> best_cuts(const RunTimes& times, const CutQuestion& question) {
  if (question.stages > times.layers()) {
    return std::nullopt;
  }
  Cutter cutter(times, question);
  const std::vector<Seconds> bounds = bounds_of(times);
  const Seconds least = cutter.least_sum(kNever);
  if (least == kNever) {
    return std::nullopt;
  }
  const auto works = [&](Seconds bound) { return cutter.least_sum(bound) < kNever; };
  auto bound =
      std::partition_point(bounds.begin(), bounds.end(), [&](Seconds at) { return !works(at); });
  StageCuts best{{}, kNever};
  for (; bound != bounds.end(); ++bound) {
    const Seconds others = *bound * as_double(question.microbatches - 1);
    if (least + others >= best.time) {
      break;  // a longer slowest stage only costs more
    }
    const Seconds time = cutter.least_sum(*bound) + others;
    if (time < best.time) {
      best = {cutter.layers(), time};
    }
  }
  return best;
}

}  // namespace sextant::search
