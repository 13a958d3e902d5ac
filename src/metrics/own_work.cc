#include "metrics/own_work.h"

#include <algorithm>
#include <span>

#include "metrics/breakdown.h"
#include "metrics/data_loading.h"
#include "metrics/exposure.h"
#include "metrics/idle.h"

namespace sextant::metrics {
namespace {

using timeline::LaneId;
using timeline::Span;
using timeline::SpanKind;

// Kernels of the main stream, by start: where a rank's work can be cut.
class KernelEdges {
 public:
  KernelEdges(const View& view, const RankLanes& rank) {
    if (rank.main) {
      kernels_ = view.timeline().spans_of(*rank.main);
    }
  }
  // The last moment up to then at which none ran: nothing that was still running is what a
  // communication waited for before it began.
  [[nodiscard]] std::int64_t before(std::int64_t at_ns) const {
    const Span* running = running_at(at_ns);
    return running == nullptr ? at_ns : running->start_ns;
  }
  // The first one from then on: what ran already has not waited for a communication to end.
  [[nodiscard]] std::int64_t after(std::int64_t at_ns) const {
    const Span* running = running_at(at_ns);
    return running == nullptr ? at_ns : running->end_ns();
  }

 private:
  [[nodiscard]] const Span* running_at(std::int64_t at_ns) const {
    const auto next = std::upper_bound(
        kernels_.begin(), kernels_.end(), at_ns,
        [](std::int64_t moment, const Span& span) { return moment < span.start_ns; });
    if (next == kernels_.begin()) {
      return nullptr;
    }
    const Span& last = *(next - 1);
    return last.start_ns < at_ns && at_ns < last.end_ns() ? &last : nullptr;
  }

  std::span<const Span> kernels_;
};

std::vector<std::int64_t> communication_edges(const View& view, const RankLanes& rank) {
  const KernelEdges kernels(view, rank);
  std::vector<std::int64_t> edges;
  for (const LaneId lane : rank.has_device() ? rank.streams : rank.threads) {
    if (view.timeline().sum(lane, SpanKind::kCommunication).spans == 0) {
      continue;
    }
    for (const Span& span : view.timeline().spans_of(lane)) {
      if (view.timeline().label_of(span).kind == SpanKind::kCommunication) {
        const bool is_on_main = rank.main && lane == *rank.main;
        edges.push_back(is_on_main ? span.start_ns : kernels.before(span.start_ns));
        edges.push_back(is_on_main ? span.end_ns() : kernels.after(span.end_ns()));
      }
    }
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

struct Stretch {
  std::int64_t step = 0;
  Interval time;
};

std::vector<Stretch> stretches(const View& view, const RankLanes& rank, const RankSteps& steps) {
  const std::vector<std::int64_t> edges = communication_edges(view, rank);
  std::vector<Stretch> found;
  auto edge = edges.begin();
  for (const Step& step : steps.steps) {
    if (!step.is_kept) {
      continue;
    }
    std::int64_t from = step.window.start_ns;
    edge = std::upper_bound(edge, edges.end(), from);
    for (; edge != edges.end() && *edge < step.window.end_ns; ++edge) {
      if (*edge > from) {
        found.push_back({step.number, {from, *edge}});
        from = *edge;
      }
    }
    found.push_back({step.number, {from, step.window.end_ns}});
  }
  return found;
}

// Idle time as the host's doing, its loading of data, and the rest.
void put_idle(const IdleCauses& idle, std::int64_t data_ns, OwnWork& work) {
  const std::int64_t host = idle.host_late_ns + idle.host_blocked_ns + idle.launching_ns;
  work.data_ns = data_ns;
  work.host_ns = host - std::min(host, data_ns);
  work.other_ns = idle.total_ns() - work.data_ns - work.host_ns;
}

// On CPUs whatever is neither an operator nor communication is the host's doing, and what happens
// inside a loader is loading.
std::vector<OwnWork> on_host(const Activity& activity, const Intervals& loading,
                             const std::vector<Interval>& windows) {
  const Intervals computing = difference(activity.compute, loading);
  const Intervals busy = united(united(activity.busy, loading), activity.communication);
  const std::vector<std::int64_t> compute = lengths_within(computing, windows);
  const std::vector<std::int64_t> data = lengths_within(loading, windows);
  const std::vector<std::int64_t> used = lengths_within(busy, windows);
  std::vector<OwnWork> all(windows.size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    all[i].compute_ns = compute[i];
    all[i].data_ns = data[i];
    all[i].host_ns = windows[i].length_ns() - used[i];
  }
  return all;
}

// Whether a kernel that computes runs before the start of each stretch and after it.
void note_going_on(const View& view, const RankLanes& rank, std::vector<OwnWork>& all) {
  for (const LaneId lane : rank.streams) {
    if (view.timeline().sum(lane, SpanKind::kCompute).spans == 0) {
      continue;
    }
    auto at = all.begin();
    for (const Span& span : view.timeline().spans_of(lane)) {
      if (view.timeline().label_of(span).kind != SpanKind::kCompute) {
        continue;
      }
      while (at != all.end() && at->start_ns <= span.start_ns) {
        ++at;
      }
      for (; at != all.end() && at->start_ns < span.end_ns(); ++at) {
        at->goes_on = true;
      }
    }
  }
}

std::vector<OwnWork> on_device(const View& view, const RankLanes& rank, const Activity& activity,
                               const Intervals& loading, const std::vector<Interval>& windows) {
  const std::vector<Breakdown> time = breakdowns(activity, windows);
  const std::vector<IdleCauses> idle = device_idle(view, rank, activity, windows);
  const std::vector<std::int64_t> data =
      lengths_within(difference(loading, activity.busy), windows);
  std::vector<OwnWork> all(windows.size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    all[i].compute_ns = time[i].compute_ns;
    all[i].copy_ns = time[i].exposed_copy_ns;
    put_idle(idle[i], data[i], all[i]);
  }
  return all;
}

}  // namespace

std::vector<OwnWork> own_work(const View& view, const RankLanes& rank, const RankSteps& steps) {
  const std::vector<Stretch> cut = stretches(view, rank, steps);
  std::vector<Interval> windows;
  windows.reserve(cut.size());
  for (const Stretch& one : cut) {
    windows.push_back(one.time);
  }
  const Activity activity = without_unawaited(view, rank, activity_of(view, rank));
  const Intervals loading = data_loading(view, rank);
  std::vector<OwnWork> all = rank.has_device() ? on_device(view, rank, activity, loading, windows)
                                               : on_host(activity, loading, windows);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].step = cut[i].step;
    all[i].start_ns = cut[i].time.start_ns;
    all[i].end_ns = cut[i].time.end_ns;
  }
  if (rank.has_device()) {
    note_going_on(view, rank, all);
  }
  std::erase_if(all, [](const OwnWork& one) { return one.total_ns() == 0; });
  return all;
}

std::vector<OwnWork> own_operations(const View& view, const RankLanes& rank, const Steps& steps,
                                    const RankSteps& of_rank,
                                    const std::vector<std::uint32_t>& names) {
  std::vector<OwnWork> all;
  for (const LaneId lane : rank.streams) {
    for (const Span& span : view.timeline().spans_of(lane)) {
      const std::uint32_t step = steps.step_of[view.number_of(span)];
      const timeline::Label& label = view.timeline().label_of(span);
      if (step == kNone || !of_rank.steps[step].is_kept || label.kind == SpanKind::kMark ||
          label.kind == SpanKind::kIdle || label.kind == SpanKind::kCommunication) {
        continue;
      }
      OwnWork one{
          .step = of_rank.steps[step].number,
          .start_ns = span.start_ns,
          .end_ns = span.end_ns(),
          .lane = view.timeline().lane_of(span).stream.value,
          .name = names[static_cast<std::size_t>(view.timeline().occurrence_of(span).label.value)]};
      std::int64_t OwnWork::* const part = is_data_loading(label)             ? &OwnWork::data_ns
                                           : label.kind == SpanKind::kCompute ? &OwnWork::compute_ns
                                           : label.kind == SpanKind::kCopy    ? &OwnWork::copy_ns
                                                                              : &OwnWork::host_ns;
      one.*part = span.duration_ns;
      all.push_back(one);
    }
  }
  return all;
}

}  // namespace sextant::metrics
