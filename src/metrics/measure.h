// All measures of a recording: what `sextant diagnose` prints and what a Summary is made of.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "metrics/breakdown.h"
#include "metrics/collectives.h"
#include "metrics/critical_path.h"
#include "metrics/idle.h"
#include "metrics/memory.h"
#include "metrics/queues.h"
#include "metrics/ranges.h"
#include "metrics/signals.h"
#include "metrics/step_categories.h"
#include "metrics/steps.h"
#include "metrics/tables.h"
#include "metrics/work_class.h"
#include "timeline/recording.h"

namespace sextant::metrics {

// Of a kept step.
struct StepMeasures {
  std::int64_t number = 0;
  Interval host;
  Interval window;
  Breakdown time = {};   // total_ns() is the window's length
  IdleCauses idle = {};  // total_ns() is time.idle_ns
  std::optional<QueueDepth> queue = std::nullopt;
  LaunchDelays launches = {};
  std::array<std::int64_t, kBounds> path_ns{};  // by Bound; adds up to the window
  std::int64_t assumed_waits = 0;
  CategoryTimes categories_ns{};  // add up to the window
  std::optional<MemoryPeak> memory = std::nullopt;
  WideSum flops = {};   // of the step's work, where labels say
  WorkTimes work_ns{};  // of its kernels that compute, by WorkClass
  bool operator==(const StepMeasures&) const = default;
};

struct RankMeasures {
  RankId rank;
  bool has_device = true;  // else: of CPUs alone, measured on its threads
  RankSteps steps;         // all, with what is kept
  std::vector<StepMeasures> kept;
  std::vector<KernelRow> kernels;  // of the kept steps, as are the following
  std::vector<OperatorRow> operators;
  std::vector<CollectiveRow> collectives;
  std::vector<RangeRow> ranges;
  std::vector<SignalRow> signals;
};

struct MeasureOptions {
  std::optional<StepRange> steps;
};

// By rank. REQUIRES: the timeline is sorted.
std::vector<RankMeasures> measure(const timeline::Recording& recording,
                                  const MeasureOptions& options = {});

std::vector<RankMeasures> measure(const View& view, const Steps& steps);

// Of all kept steps together.
struct RankTotals {
  std::int64_t steps = 0;
  Breakdown time = {};
  IdleCauses idle = {};
  QueueDepth queue = {};
  LaunchDelays launches = {};
  std::array<std::int64_t, kBounds> path_ns{};
  std::int64_t assumed_waits = 0;
  CategoryTimes categories_ns{};
  std::optional<MemoryPeak> memory = std::nullopt;
  WideSum flops = {};
  WorkTimes work_ns{};
  RankTotals& operator+=(const StepMeasures& step);
  RankTotals& operator+=(const RankTotals& other);
  bool operator==(const RankTotals&) const = default;
};
RankTotals totals(const RankMeasures& rank);

}  // namespace sextant::metrics
