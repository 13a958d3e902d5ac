#include "metrics/measure.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "metrics/exposure.h"

namespace sextant::metrics {
namespace {

std::vector<Interval> kept_times(const RankSteps& steps, Interval Step::* which) {
  std::vector<Interval> times;
  for (const Step& step : steps.steps) {
    if (step.is_kept) {
      times.push_back(step.*which);
    }
  }
  return times;
}

// A rank of CPUs has no launches to follow: its path is what its threads were at.
std::array<std::int64_t, kBounds> host_path(const Breakdown& time) {
  std::array<std::int64_t, kBounds> path{};
  path[static_cast<std::size_t>(Bound::kHost)] = time.compute_ns;
  path[static_cast<std::size_t>(Bound::kCommunication)] = time.exposed_communication_ns;
  path[static_cast<std::size_t>(Bound::kCopy)] = time.exposed_copy_ns;
  path[static_cast<std::size_t>(Bound::kUnknown)] = time.idle_ns;
  return path;
}

// What labels say of one occurrence; 0: nothing.
std::vector<std::uint64_t> flops_by_label(const View& view) {
  std::vector<std::uint64_t> flops;
  for (const timeline::Label& label : view.timeline().labels()) {
    const double said = label.flops ? label.flops->base() : 0.0;
    flops.push_back(said >= 1.0 && said < 0x1p63 ? static_cast<std::uint64_t>(said) : 0);
  }
  return flops;
}

std::vector<WideSum> flops_on(const View& view, const std::vector<timeline::LaneId>& lanes,
                              const std::vector<std::uint64_t>& of_label, const Steps& steps,
                              std::size_t rank_number) {
  std::vector<WideSum> flops(steps.ranks[rank_number].steps.size());
  for (const timeline::LaneId lane : lanes) {
    for (const timeline::Span& span : view.timeline().spans_of(lane)) {
      const std::uint32_t step = steps.step_of[view.number_of(span)];
      const auto label = static_cast<std::size_t>(view.timeline().occurrence_of(span).label.value);
      if (step != kNone && of_label[label] > 0) {
        flops[step].add_product(of_label[label], 1);
      }
    }
  }
  return flops;
}

// Said of kernels, or else of the operators that launch them: never both.
std::vector<WideSum> step_flops(const View& view, const RankLanes& rank, const Steps& steps,
                                std::size_t rank_number) {
  const std::vector<std::uint64_t> of_label = flops_by_label(view);
  if (std::all_of(of_label.begin(), of_label.end(), [](std::uint64_t said) { return said == 0; })) {
    return std::vector<WideSum>(steps.ranks[rank_number].steps.size());
  }
  std::vector<WideSum> flops = flops_on(view, rank.streams, of_label, steps, rank_number);
  const bool none =
      std::all_of(flops.begin(), flops.end(), [](const WideSum& sum) { return sum == WideSum(); });
  return none ? flops_on(view, rank.threads, of_label, steps, rank_number) : flops;
}

struct StepParts {
  std::vector<Breakdown> time;
  std::vector<IdleCauses> idle;
  std::optional<std::vector<QueueDepth>> queue;
  std::vector<LaunchDelays> launches;
  std::vector<CriticalPath> paths;
  std::vector<CategoryTimes> categories;
  std::vector<std::optional<MemoryPeak>> memory;
  std::vector<WideSum> flops;
  std::vector<WorkTimes> work;
  std::vector<RangeRow> ranges;
  std::vector<SignalRow> signals;
};

StepParts parts_of(const View& view, const RankLanes& rank, const Steps& steps,
                   std::size_t rank_number) {
  const RankSteps& of_rank = steps.ranks[rank_number];
  const std::vector<Interval> windows = kept_times(of_rank, &Step::window);
  StepParts parts;
  const Activity activity = activity_of(view, rank);
  parts.time = breakdowns(activity, windows);
  parts.idle = device_idle(view, rank, activity, windows);
  parts.signals =
      signal_table(view, rank, steps, rank_number, without_unawaited(view, rank, activity));
  parts.queue = queue_depths(view, rank, windows);
  parts.launches = launch_delays(view, rank, steps, rank_number);
  if (rank.has_device()) {
    parts.paths = critical_paths(view, rank, of_rank);
  }
  parts.categories = step_categories(view, rank, activity, parts.idle, windows);
  parts.memory = memory_peaks(view, rank.rank, kept_times(of_rank, &Step::host));
  parts.flops = step_flops(view, rank, steps, rank_number);
  parts.work = work_times(view, rank, steps, rank_number);
  parts.ranges = range_table(view, rank, steps, rank_number, activity);
  return parts;
}

std::vector<StepMeasures> step_measures(const RankSteps& steps, const StepParts& parts) {
  std::vector<StepMeasures> kept;
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    const Step& step = steps.steps[i];
    if (!step.is_kept) {
      continue;
    }
    const std::size_t at = kept.size();
    StepMeasures one{.number = step.number, .host = step.host, .window = step.window};
    one.time = parts.time[at];
    one.idle = parts.idle[at];
    if (parts.queue) {
      one.queue = (*parts.queue)[at];
    }
    one.launches = parts.launches[i];
    one.path_ns = parts.paths.empty() ? host_path(one.time) : parts.paths[at].by_bound_ns;
    one.assumed_waits = parts.paths.empty() ? 0 : parts.paths[at].assumed_waits;
    one.categories_ns = parts.categories[at];
    one.memory = parts.memory[at];
    one.flops = parts.flops[i];
    one.work_ns = parts.work[i];
    kept.push_back(one);
  }
  return kept;
}

// The larger of what was allocated and of what was reserved; of equals the earlier moment.
std::optional<MemoryPeak> larger_peak(const std::optional<MemoryPeak>& a,
                                      const std::optional<MemoryPeak>& b) {
  if (!a || !b) {
    return a ? a : b;
  }
  const auto key = [](const MemoryPeak& peak) {
    return std::tuple(-peak.allocated_bytes, peak.allocated_at_ns);
  };
  MemoryPeak larger = key(*a) <= key(*b) ? *a : *b;
  larger.reserved_bytes = std::max(a->reserved_bytes, b->reserved_bytes);
  return larger;
}

}  // namespace

std::vector<RankMeasures> measure(const View& view, const Steps& steps) {
  std::vector<RankMeasures> answer;
  for (std::size_t i = 0; i < view.ranks.size(); ++i) {
    const RankLanes& rank = view.ranks[i];
    StepParts parts = parts_of(view, rank, steps, i);
    answer.push_back({.rank = rank.rank,
                      .has_device = rank.has_device(),
                      .steps = steps.ranks[i],
                      .kept = step_measures(steps.ranks[i], parts),
                      .kernels = kernel_table(view, rank, steps, i),
                      .operators = operator_table(view, rank, steps, i),
                      .collectives = collective_table(view, rank, steps, i),
                      .ranges = std::move(parts.ranges),
                      .signals = std::move(parts.signals)});
  }
  return answer;
}

std::vector<RankMeasures> measure(const timeline::Recording& recording,
                                  const MeasureOptions& options) {
  const View view = view_of(recording);
  return measure(view, steps_of(view, options.steps));
}

RankTotals& RankTotals::operator+=(const StepMeasures& step) {
  RankTotals one{.steps = 1,
                 .time = step.time,
                 .idle = step.idle,
                 .launches = step.launches,
                 .path_ns = step.path_ns,
                 .assumed_waits = step.assumed_waits,
                 .categories_ns = step.categories_ns,
                 .memory = step.memory,
                 .flops = step.flops,
                 .work_ns = step.work_ns};
  one.queue = step.queue.value_or(QueueDepth());
  return *this += one;
}

RankTotals& RankTotals::operator+=(const RankTotals& other) {
  steps += other.steps;
  time += other.time;
  idle += other.idle;
  queue += other.queue;
  launches += other.launches;
  for (std::size_t i = 0; i < kBounds; ++i) {
    path_ns[i] += other.path_ns[i];
  }
  for (std::size_t i = 0; i < kWorkClasses; ++i) {
    work_ns[i] += other.work_ns[i];
  }
  assumed_waits += other.assumed_waits;
  for (std::size_t i = 0; i < kStepCategories; ++i) {
    categories_ns[i] += other.categories_ns[i];
  }
  memory = larger_peak(memory, other.memory);
  flops += other.flops;
  return *this;
}

RankTotals totals(const RankMeasures& rank) {
  RankTotals sum;
  for (const StepMeasures& step : rank.kept) {
    sum += step;
  }
  return sum;
}

}  // namespace sextant::metrics
