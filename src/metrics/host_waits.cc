#include "metrics/host_waits.h"

#include <algorithm>

namespace sextant::metrics {
namespace {

using timeline::LaneId;
using timeline::Span;

bool starts_earlier(const Interval& a, const Interval& b) {
  return a.start_ns < b.start_ns;
}

}  // namespace

HostWaits::HostWaits(const View& view, const RankLanes& rank) {
  for (const LaneId lane : rank.threads) {
    std::vector<Interval> waits;
    for (const Span& span : view.timeline().spans_of(lane)) {
      // A call inside another (the driver's inside the runtime's) is the same wait.
      if (view.traits_of(span).is_blocking &&
          (waits.empty() || span.start_ns >= waits.back().end_ns)) {
        waits.push_back({span.start_ns, span.end_ns()});
      }
    }
    if (view.launches[static_cast<std::size_t>(lane.value)]) {
      of_launching_.insert(of_launching_.end(), waits.begin(), waits.end());
    }
    by_thread_[static_cast<std::uint32_t>(lane.value)] = std::move(waits);
  }
  std::sort(of_launching_.begin(), of_launching_.end(), starts_earlier);
}

std::span<const Interval> HostWaits::from(std::uint32_t thread, std::int64_t at_ns) const {
  const auto found = by_thread_.find(thread);
  if (found == by_thread_.end()) {
    return {};
  }
  const std::vector<Interval>& waits = found->second;
  const auto first = std::partition_point(
      waits.begin(), waits.end(), [&](const Interval& wait) { return wait.end_ns <= at_ns; });
  return {first, waits.end()};
}

const Interval* HostWaits::last_before(std::int64_t at_ns) const {
  const auto after = std::lower_bound(of_launching_.begin(), of_launching_.end(),
                                      Interval{at_ns, at_ns}, starts_earlier);
  return after == of_launching_.begin() ? nullptr : &*std::prev(after);
}

}  // namespace sextant::metrics
