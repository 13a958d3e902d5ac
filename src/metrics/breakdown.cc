#include "metrics/breakdown.h"

#include <algorithm>
#include <utility>

namespace sextant::metrics {
namespace {

using timeline::LaneId;
using timeline::Place;
using timeline::Span;
using timeline::SpanKind;

// The moments at which a span of the lane that `counts` runs. Spans come by start.
template <typename Counts>
Intervals moments_of(const View& view, LaneId lane, const Counts& counts) {
  Intervals moments;
  for (const Span& span : view.timeline().spans_of(lane)) {
    if (span.duration_ns == 0 || !counts(view.timeline().label_of(span).kind)) {
      continue;
    }
    if (!moments.empty() && span.start_ns <= moments.back().end_ns) {
      moments.back().end_ns = std::max(moments.back().end_ns, span.end_ns());
    } else {
      moments.push_back({span.start_ns, span.end_ns()});
    }
  }
  return moments;
}

template <typename Counts>
Intervals moments_of_lanes(const View& view, const std::vector<LaneId>& lanes,
                           const Counts& counts) {
  std::vector<Intervals> parts;
  for (const LaneId lane : lanes) {
    parts.push_back(moments_of(view, lane, counts));
  }
  // Two and two: each is looked at as often as the number of lanes has digits, not lanes.
  for (; parts.size() > 1; parts.resize((parts.size() + 1) / 2)) {
    for (std::size_t i = 0; i < parts.size(); i += 2) {
      parts[i / 2] = i + 1 < parts.size() ? united(parts[i], parts[i + 1]) : std::move(parts[i]);
    }
  }
  return parts.empty() ? Intervals() : std::move(parts.front());
}

Intervals moments_of_kind(const View& view, const RankLanes& rank, SpanKind kind) {
  std::vector<LaneId> lanes;
  for (const LaneId lane : rank.has_device() ? rank.streams : rank.threads) {
    if (view.timeline().sum(lane, kind).spans > 0) {
      lanes.push_back(lane);
    }
  }
  return moments_of_lanes(view, lanes, [&](SpanKind of) { return of == kind; });
}

}  // namespace

Breakdown& Breakdown::operator+=(const Breakdown& other) {
  compute_ns += other.compute_ns;
  exposed_communication_ns += other.exposed_communication_ns;
  exposed_copy_ns += other.exposed_copy_ns;
  idle_ns += other.idle_ns;
  communication_ns += other.communication_ns;
  copy_ns += other.copy_ns;
  overlap_ns += other.overlap_ns;
  return *this;
}

Activity activity_of(const View& view, const RankLanes& rank) {
  Activity activity;
  activity.communication = moments_of_kind(view, rank, SpanKind::kCommunication);
  activity.copy = moments_of_kind(view, rank, SpanKind::kCopy);
  if (rank.has_device()) {
    activity.compute = moments_of_kind(view, rank, SpanKind::kCompute);
  } else {
    activity.compute = moments_of_lanes(view, rank.threads, [](SpanKind kind) {
      return kind == SpanKind::kCompute || kind == SpanKind::kHost;
    });
  }
  activity.busy = united(united(activity.compute, activity.communication), activity.copy);
  return activity;
}

std::vector<std::int64_t> lengths_within(const Intervals& of,
                                         const std::vector<Interval>& windows) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(windows.size());
  auto at = of.begin();
  for (const Interval& window : windows) {
    std::int64_t length = 0;
    while (at != of.end() && at->end_ns <= window.start_ns) {
      ++at;
    }
    for (; at != of.end() && at->start_ns < window.end_ns; ++at) {
      length += std::min(at->end_ns, window.end_ns) - std::max(at->start_ns, window.start_ns);
      if (at->end_ns > window.end_ns) {
        break;  // it goes on in the next window
      }
    }
    lengths.push_back(length);
  }
  return lengths;
}

std::vector<Breakdown> breakdowns(const Activity& activity, const std::vector<Interval>& windows) {
  const auto lengths = [&](const Intervals& of) { return lengths_within(of, windows); };
  const Intervals overlap = intersection(activity.communication, activity.compute);
  const std::vector<std::int64_t> compute = lengths(activity.compute);
  const std::vector<std::int64_t> communication = lengths(activity.communication);
  const std::vector<std::int64_t> both = lengths(overlap);
  const std::vector<std::int64_t> copy = lengths(activity.copy);
  const std::vector<std::int64_t> busy = lengths(activity.busy);
  std::vector<Breakdown> answer;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    Breakdown one;
    one.compute_ns = compute[i];
    one.communication_ns = communication[i];
    one.copy_ns = copy[i];
    one.overlap_ns = both[i];
    one.exposed_communication_ns = communication[i] - both[i];
    one.exposed_copy_ns = busy[i] - compute[i] - one.exposed_communication_ns;
    one.idle_ns = windows[i].length_ns() - busy[i];
    answer.push_back(one);
  }
  return answer;
}

}  // namespace sextant::metrics
