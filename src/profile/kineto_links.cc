#include "profile/kineto_links.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace sextant::profile {
namespace {

using timeline::Timeline;

struct CallPlace {
  timeline::LaneId lane;
  std::int64_t start_ns = 0;
};

// The calls on the host that bear one of the kernels' correlations.
std::unordered_map<std::int64_t, CallPlace> calls_of(
    const Timeline& timeline, const std::vector<KinetoLinks::Kernel>& kernels) {
  std::unordered_map<std::int64_t, CallPlace> calls;
  for (const KinetoLinks::Kernel& kernel : kernels) {
    calls.try_emplace(kernel.correlation.value, CallPlace{{-1}, 0});
  }
  for (const timeline::Span& span : timeline.spans()) {
    if (timeline.lane_of(span).place != timeline::Place::kHost) {
      continue;
    }
    const auto correlation = timeline.occurrence_of(span).correlation;
    const auto at = correlation ? calls.find(correlation->value) : calls.end();
    if (at != calls.end()) {
      at->second = {{span.lane}, span.start_ns};
    }
  }
  return calls;
}

// The event around the call; of those that enclose one another the innermost. REQUIRES: events by
// lane and start.
const KinetoLinks::Event* around(const std::vector<KinetoLinks::Event>& events,
                                 const CallPlace& call) {
  constexpr int kMostNested = 8;
  auto at = std::upper_bound(events.begin(), events.end(), call,
                             [](const CallPlace& place, const KinetoLinks::Event& event) {
                               return std::tuple(place.lane, place.start_ns) <
                                      std::tuple(event.lane, event.start_ns);
                             });
  for (int i = 0; i < kMostNested && at != events.begin(); ++i) {
    --at;
    if (at->lane == call.lane && at->end_ns >= call.start_ns) {
      return &*at;
    }
  }
  return nullptr;
}

}  // namespace

void KinetoLinks::add_all(Timeline& timeline, KinetoLabels& labels) {
  std::unordered_map<std::int64_t, CallPlace> calls;
  if (!events_.empty() && !kernels_.empty()) {
    calls = calls_of(timeline, kernels_);
    std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
      return std::tuple(a.lane, a.start_ns, b.end_ns) < std::tuple(b.lane, b.start_ns, a.end_ns);
    });
  }
  for (const Kernel& kernel : kernels_) {
    const auto call = calls.find(kernel.correlation.value);
    const Event* event = call == calls.end() || call->second.lane.value < 0
                             ? nullptr
                             : around(events_, call->second);
    timeline::Occurrence what =
        labels.communication(kernel.known, {}, event == nullptr ? nullptr : &event->link);
    what.correlation = kernel.correlation;
    timeline.add(kernel.lane, what, kernel.start_ns, kernel.duration_ns);
  }
  kernels_.clear();
  events_.clear();
}

}  // namespace sextant::profile
