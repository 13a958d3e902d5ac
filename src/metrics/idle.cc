#include "metrics/idle.h"

#include <algorithm>
#include <utility>

#include "metrics/host_waits.h"
#include "metrics/window_sums.h"

namespace sextant::metrics {
namespace {

using timeline::LaneId;
using timeline::Span;

Intervals gaps_within(const Intervals& busy, const std::vector<Interval>& windows) {
  if (windows.empty()) {
    return {};
  }
  return difference({{windows.front().start_ns, windows.back().end_ns}}, busy);
}

void set_ends(const View& view, LaneId lane, std::vector<Gap>& gaps) {
  auto gap = gaps.begin();
  std::uint32_t before = kNone;
  for (const Span& span : view.timeline().spans_of(lane)) {
    if (span.duration_ns == 0 || !view.traits_of(span).is_work) {
      continue;
    }
    if (gap != gaps.end() && gap->time.end_ns < span.start_ns) {
      // A stream that does little passes over many gaps.
      gap = std::partition_point(gap, gaps.end(),
                                 [&](const Gap& one) { return one.time.end_ns < span.start_ns; });
    }
    if (gap != gaps.end() && gap->time.end_ns == span.start_ns && gap->ended_by == kNone) {
      gap->ended_by = view.number_of(span);
      gap->before = before;
    }
    before = view.number_of(span);
  }
}

// A gap that ends within a communication (exposure.h) ends with the call that launched compute
// next: that is what was waited for.
void set_launched_ends(const View& view, const RankLanes& rank, std::vector<Gap>& gaps) {
  if (std::ranges::none_of(gaps, [](const Gap& gap) { return gap.ended_by == kNone; })) {
    return;
  }
  std::vector<std::pair<std::int64_t, std::uint32_t>> launched;  // when, what
  for (const LaneId lane : rank.streams) {
    for (const Span& span : view.timeline().spans_of(lane)) {
      const std::uint32_t call = view.call_of[view.number_of(span)];
      if (call != kNone && view.timeline().label_of(span).kind == timeline::SpanKind::kCompute) {
        launched.emplace_back(view.timeline().spans()[call].start_ns, view.number_of(span));
      }
    }
  }
  std::ranges::sort(launched);
  for (Gap& gap : gaps) {
    const auto next =
        std::ranges::lower_bound(launched, std::pair(gap.time.end_ns, std::uint32_t{0}));
    if (gap.ended_by == kNone && next != launched.end()) {
      gap.ended_by = next->second;
    }
  }
}

// Moments at which each stream was told to wait for another, in order.
std::map<StreamId, std::vector<std::int64_t>> stream_waits(const View& view, RankId rank) {
  std::map<StreamId, std::vector<std::int64_t>> moments;
  for (const timeline::StreamWait& wait : of_rank(view.recording->waits, rank)) {
    if (!wait.blocks_host) {
      moments[wait.stream].push_back(wait.at_ns);
    }
  }
  return moments;
}

class IdleCounter {
 public:
  IdleCounter(const View& view, const RankLanes& rank, const Activity& activity,
              const std::vector<Interval>& windows)
      : view_(view),
        activity_(activity),
        host_waits_(view, rank),
        sums_(windows),
        stream_waits_(stream_waits(view, rank.rank)) {}

  void add(const Gap& gap) {
    const std::uint32_t call = gap.ended_by == kNone ? kNone : view_.call_of[gap.ended_by];
    if (call == kNone) {
      put(gap.time, &IdleCauses::unknown_ns);
      return;
    }
    const Span& asked = view_.timeline().spans()[call];
    const auto within = [&](std::int64_t at_ns) {
      return std::clamp(at_ns, gap.time.start_ns, gap.time.end_ns);
    };
    add_host({gap.time.start_ns, within(asked.start_ns)}, asked.lane);
    put({within(asked.start_ns), within(asked.end_ns())}, &IdleCauses::launching_ns);
    add_device(gap, {within(asked.end_ns()), gap.time.end_ns}, asked);
  }

  std::vector<IdleCauses> take() { return std::move(sums_.sums()); }

 private:
  void put(const Interval& time, std::int64_t IdleCauses::* cause) {
    if (time.start_ns < time.end_ns) {
      sums_.add(time,
                [&](IdleCauses& sum, const Interval& part) { sum.*cause += part.length_ns(); });
    }
  }

  void add_host(const Interval& time, std::uint32_t thread) {
    std::int64_t from = time.start_ns;
    for (const Interval& wait : host_waits_.from(thread, from)) {
      if (wait.start_ns >= time.end_ns) {
        break;
      }
      put({from, std::max(from, wait.start_ns)}, &IdleCauses::host_late_ns);
      from = std::max(from, wait.start_ns);
      put({from, std::min(wait.end_ns, time.end_ns)}, &IdleCauses::host_blocked_ns);
      from = std::min(wait.end_ns, time.end_ns);
    }
    put({from, time.end_ns}, &IdleCauses::host_late_ns);
  }

  void add_device(const Gap& gap, const Interval& time, const Span& asked) {
    if (time.start_ns >= time.end_ns) {
      return;
    }
    if (!may_depend(gap, asked)) {
      put(time, &IdleCauses::other_ns);
      return;
    }
    std::int64_t from = time.start_ns;
    while (at_busy_ < activity_.busy.size() && activity_.busy[at_busy_].end_ns <= from) {
      ++at_busy_;
    }
    for (std::size_t i = at_busy_;
         i < activity_.busy.size() && activity_.busy[i].start_ns < time.end_ns; ++i) {
      const Interval& busy = activity_.busy[i];
      put({from, std::max(from, busy.start_ns)}, &IdleCauses::other_ns);
      from = std::max(from, busy.start_ns);
      put({from, std::min(busy.end_ns, time.end_ns)}, &IdleCauses::dependency_ns);
      from = std::min(busy.end_ns, time.end_ns);
    }
    put({from, time.end_ns}, &IdleCauses::other_ns);
  }

  // A wait was recorded between the launch of the span before and this one's; where none are
  // recorded at all, there may have been one.
  [[nodiscard]] bool may_depend(const Gap& gap, const Span& asked) const {
    if (!view_.recording->has_sync_events) {
      return true;
    }
    const std::span<const Span> spans = view_.timeline().spans();
    const auto found = stream_waits_.find(view_.timeline().lane_of(spans[gap.ended_by]).stream);
    const std::uint32_t before = gap.before == kNone ? kNone : view_.call_of[gap.before];
    if (found == stream_waits_.end()) {
      return false;
    }
    const std::int64_t since =
        before == kNone ? -timeline::Timeline::kFarthestNs : spans[before].start_ns;
    const auto wait = std::lower_bound(found->second.begin(), found->second.end(), since);
    return wait != found->second.end() && *wait <= asked.end_ns();
  }

  const View& view_;
  const Activity& activity_;
  HostWaits host_waits_;
  WindowSums<IdleCauses> sums_;
  std::map<StreamId, std::vector<std::int64_t>> stream_waits_;
  std::size_t at_busy_ = 0;
};

std::vector<IdleCauses> causes_of(IdleCounter counter, const std::vector<Gap>& gaps) {
  for (const Gap& gap : gaps) {
    counter.add(gap);
  }
  return counter.take();
}

std::vector<Gap> gaps_of(const Intervals& times) {
  std::vector<Gap> gaps;
  gaps.reserve(times.size());
  for (const Interval& time : times) {
    gaps.push_back({.time = time});
  }
  return gaps;
}

Intervals work_of(const View& view, LaneId lane) {
  Intervals busy;
  for (const Span& span : view.timeline().spans_of(lane)) {
    if (span.duration_ns == 0 || !view.traits_of(span).is_work) {
      continue;
    }
    if (!busy.empty() && span.start_ns <= busy.back().end_ns) {
      busy.back().end_ns = std::max(busy.back().end_ns, span.end_ns());
    } else {
      busy.push_back({span.start_ns, span.end_ns()});
    }
  }
  return busy;
}

}  // namespace

IdleCauses& IdleCauses::operator+=(const IdleCauses& other) {
  host_late_ns += other.host_late_ns;
  host_blocked_ns += other.host_blocked_ns;
  launching_ns += other.launching_ns;
  dependency_ns += other.dependency_ns;
  other_ns += other.other_ns;
  unknown_ns += other.unknown_ns;
  return *this;
}

std::vector<Gap> device_gaps(const View& view, const RankLanes& rank, const Activity& activity,
                             const std::vector<Interval>& windows) {
  std::vector<Gap> gaps = gaps_of(gaps_within(activity.busy, windows));
  for (const LaneId lane : rank.streams) {
    set_ends(view, lane, gaps);
  }
  set_launched_ends(view, rank, gaps);
  return gaps;
}

std::vector<IdleCauses> device_idle(const View& view, const RankLanes& rank,
                                    const Activity& activity,
                                    const std::vector<Interval>& windows) {
  return causes_of(IdleCounter(view, rank, activity, windows),
                   device_gaps(view, rank, activity, windows));
}

std::vector<IdleCauses> stream_idle(const View& view, const RankLanes& rank,
                                    const Activity& activity, LaneId stream,
                                    const std::vector<Interval>& windows) {
  std::vector<Gap> gaps = gaps_of(gaps_within(work_of(view, stream), windows));
  set_ends(view, stream, gaps);
  return causes_of(IdleCounter(view, rank, activity, windows), gaps);
}

}  // namespace sextant::metrics
