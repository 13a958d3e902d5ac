#include "metrics/exposure.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace sextant::metrics {
namespace {

using timeline::Span;

// Of its Timeline; -1 for those of no group that the source names, which are one another's.
std::int64_t group_number(const View& view, const Span& span) {
  const auto& collective = view.timeline().label_of(span).collective;
  return collective && collective->group ? collective->group->value : -1;
}

// What communicates at a moment.
class Running {
 public:
  void begin(std::size_t one, std::int64_t group) {
    all_.insert(one);
    groups_[group] += 1;
  }
  void end(std::size_t one, std::int64_t group) {
    all_.erase(one);
    const auto at = groups_.find(group);
    if (--at->second == 0) {
      groups_.erase(at);
    }
  }
  [[nodiscard]] bool is_one_group() const { return groups_.size() == 1; }
  [[nodiscard]] std::size_t first() const { return *all_.begin(); }

 private:
  std::set<std::size_t> all_;  // numbers by start: the first began first
  std::map<std::int64_t, std::int64_t> groups_;
};

struct Edge {
  std::int64_t at_ns = 0;
  bool begins = false;
  std::size_t one = 0;
};

std::vector<Edge> edges_of(const View& view, const std::vector<std::uint32_t>& spans) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Span& span = view.timeline().spans()[spans[i]];
    assert(i == 0 || view.timeline().spans()[spans[i - 1]].start_ns <= span.start_ns);
    if (span.duration_ns > 0) {
      edges.push_back({span.start_ns, true, i});
      edges.push_back({span.end_ns(), false, i});
    }
  }
  std::ranges::stable_sort(edges, {}, &Edge::at_ns);
  return edges;
}

// When something was to be done: compute was launched and had not begun, or a thread waited for
// the device. Compute of which no call is known was to be done since the compute before it.
Intervals demand_of(const View& view, const RankLanes& rank) {
  const std::span<const Span> all = view.timeline().spans();
  std::vector<Interval> pieces;
  for (const timeline::LaneId lane : rank.streams) {
    std::int64_t before = -timeline::Timeline::kFarthestNs;
    for (const Span& span : view.timeline().spans_of(lane)) {
      if (view.timeline().label_of(span).kind == timeline::SpanKind::kCompute) {
        const std::uint32_t call = view.call_of[view.number_of(span)];
        pieces.push_back({call == kNone ? before : all[call].start_ns, span.start_ns});
        before = span.end_ns();
      }
    }
  }
  for (const timeline::LaneId lane : rank.threads) {
    for (const Span& span : view.timeline().spans_of(lane)) {
      if (view.traits_of(span).is_blocking) {
        pieces.push_back({span.start_ns, span.end_ns()});
      }
    }
  }
  return united(std::move(pieces));
}

// How much of [from, to) lies in the moments; asked in order.
class Within {
 public:
  explicit Within(Intervals moments) : moments_(std::move(moments)) {}
  std::int64_t length(std::int64_t from_ns, std::int64_t to_ns) {
    while (at_ < moments_.size() && moments_[at_].end_ns <= from_ns) {
      ++at_;
    }
    std::int64_t sum = 0;
    for (std::size_t i = at_; i < moments_.size() && moments_[i].start_ns < to_ns; ++i) {
      sum += std::min(to_ns, moments_[i].end_ns) - std::max(from_ns, moments_[i].start_ns);
    }
    return sum;
  }

 private:
  Intervals moments_;
  std::size_t at_ = 0;
};

// Of the moments of communication.
Intervals idle_with_demand(const View& view, const RankLanes& rank, const Activity& activity) {
  const Intervals bare = difference(activity.communication, activity.compute);
  // A rank of CPUs has no queue: what it waits for, it needs.
  return rank.has_device() ? intersection(bare, demand_of(view, rank)) : bare;
}

}  // namespace

Activity without_unawaited(const View& view, const RankLanes& rank, Activity activity) {
  if (!rank.has_device() || activity.communication.empty()) {
    return activity;
  }
  const Intervals bare = difference(activity.communication, activity.compute);
  const Intervals unawaited = difference(bare, demand_of(view, rank));
  activity.communication = difference(activity.communication, unawaited);
  activity.busy = united(united(activity.compute, activity.communication), activity.copy);
  return activity;
}

std::vector<std::int64_t> times_alone(const View& view, const RankLanes& rank,
                                      const Activity& activity,
                                      const std::vector<std::uint32_t>& spans) {
  std::vector<std::int64_t> alone(spans.size());
  Running running;
  Within bare(idle_with_demand(view, rank, activity));
  std::int64_t until = 0;
  for (const Edge& edge : edges_of(view, spans)) {
    if (running.is_one_group() && edge.at_ns > until) {
      alone[running.first()] += bare.length(until, edge.at_ns);
    }
    until = edge.at_ns;
    const std::int64_t group = group_number(view, view.timeline().spans()[spans[edge.one]]);
    if (edge.begins) {
      running.begin(edge.one, group);
    } else {
      running.end(edge.one, group);
    }
  }
  return alone;
}

}  // namespace sextant::metrics
