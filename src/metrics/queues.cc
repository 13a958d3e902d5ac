#include "metrics/queues.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "base/integers.h"
#include "metrics/window_sums.h"

namespace sextant::metrics {
namespace {

using timeline::LaneId;
using timeline::Span;

// A call that has launched, from its start to that of its first work.
struct Waiting {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
};

struct FirstWork {
  std::uint32_t call = 0;
  std::uint32_t work = 0;
};

// Of each call the work that starts first, in order of calls.
std::vector<FirstWork> first_work(const View& view, const RankLanes& rank) {
  const std::span<const Span> spans = view.timeline().spans();
  std::vector<FirstWork> first;
  for (const LaneId lane : rank.streams) {
    for (const Span& span : view.timeline().spans_of(lane)) {
      const std::uint32_t number = view.number_of(span);
      // Of a graph's kernels on one stream only the first can be first of all.
      if (view.call_of[number] != kNone &&
          (first.empty() || first.back().call != view.call_of[number])) {
        first.push_back({view.call_of[number], number});
      }
    }
  }
  std::sort(first.begin(), first.end(), [&](const FirstWork& a, const FirstWork& b) {
    return std::tuple(a.call, spans[a.work].start_ns, a.work) <
           std::tuple(b.call, spans[b.work].start_ns, b.work);
  });
  first.erase(std::unique(first.begin(), first.end(),
                          [](const FirstWork& a, const FirstWork& b) { return a.call == b.call; }),
              first.end());
  return first;
}

std::size_t depth_class(std::int64_t depth) {
  return std::min<std::size_t>(QueueDepth::kClasses - 1,
                               std::bit_width(static_cast<std::uint64_t>(depth)));
}

}  // namespace

std::int64_t QueueDepth::total_ns() const {
  std::int64_t total = 0;
  for (const std::int64_t time : at_depth_ns) {
    total += time;
  }
  return total;
}

double QueueDepth::mean() const {
  const std::int64_t total = total_ns();
  return total == 0 ? 0.0 : static_cast<double>(waited_ns) / static_cast<double>(total);
}

double QueueDepth::empty_share() const {
  const std::int64_t total = total_ns();
  return total == 0 ? 0.0 : static_cast<double>(at_depth_ns[0]) / static_cast<double>(total);
}

QueueDepth& QueueDepth::operator+=(const QueueDepth& other) {
  for (std::size_t i = 0; i < kClasses; ++i) {
    at_depth_ns[i] += other.at_depth_ns[i];
  }
  waited_ns += std::min(other.waited_ns, std::numeric_limits<std::int64_t>::max() - waited_ns);
  deepest = std::max(deepest, other.deepest);
  return *this;
}

std::optional<std::vector<QueueDepth>> queue_depths(const View& view, const RankLanes& rank,
                                                    const std::vector<Interval>& windows) {
  const std::span<const Span> spans = view.timeline().spans();
  std::vector<std::int64_t> asked;
  std::vector<std::int64_t> begun;
  for (const FirstWork& one : first_work(view, rank)) {
    // Clocks of host and device differ a little: work that seems to start first never waited.
    if (spans[one.work].start_ns > spans[one.call].start_ns) {
      asked.push_back(spans[one.call].start_ns);
      begun.push_back(spans[one.work].start_ns);
    }
  }
  if (asked.empty() || windows.empty()) {
    return std::nullopt;
  }
  std::sort(asked.begin(), asked.end());
  std::sort(begun.begin(), begun.end());
  WindowSums<QueueDepth> sums(windows);
  std::int64_t depth = 0;
  std::int64_t since = windows.front().start_ns;
  const auto hold = [&](std::int64_t until) {
    if (until > since) {
      sums.add({since, until}, [&](QueueDepth& sum, const Interval& part) {
        sum.at_depth_ns[depth_class(depth)] += part.length_ns();
        // Saturating: clocks that jump make it longer than any run.
        const std::int64_t waited = saturating_product({depth, part.length_ns()});
        sum.waited_ns += std::min(waited, std::numeric_limits<std::int64_t>::max() - sum.waited_ns);
        sum.deepest = std::max(sum.deepest, depth);
      });
      since = until;
    }
  };
  // At one moment, what begins leaves before what is asked enters.
  for (std::size_t in = 0, out = 0; out < begun.size();) {
    const bool enters = in < asked.size() && asked[in] < begun[out];
    hold(enters ? asked[in] : begun[out]);
    in += enters ? 1 : 0;
    out += enters ? 0 : 1;
    depth += enters ? 1 : -1;
  }
  hold(windows.back().end_ns);
  return std::move(sums.sums());
}

LaunchDelays& LaunchDelays::operator+=(const LaunchDelays& other) {
  delay += other.delay;
  idle += other.idle;
  call += other.call;
  return *this;
}

std::vector<LaunchDelays> launch_delays(const View& view, const RankLanes& rank, const Steps& steps,
                                        std::size_t rank_number) {
  const std::span<const Span> spans = view.timeline().spans();
  std::vector<LaunchDelays> delays(steps.ranks[rank_number].steps.size());
  for (const FirstWork& one : first_work(view, rank)) {
    const std::uint32_t step = steps.step_of[one.work];
    if (step == kNone) {
      continue;
    }
    const Span& call = spans[one.call];
    const Span& work = spans[one.work];
    const std::int64_t delay = std::max<std::int64_t>(0, work.start_ns - call.end_ns());
    delays[step].delay.add(delay);
    delays[step].call.add(call.duration_ns);
    const bool is_first = one.work == 0 || spans[one.work - 1].lane != work.lane;
    if (is_first || spans[one.work - 1].end_ns() <= call.start_ns) {
      delays[step].idle.add(delay);
    }
  }
  return delays;
}

}  // namespace sextant::metrics
