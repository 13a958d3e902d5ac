// How far the host runs ahead of the device: calls whose work has not begun, weighted by time, and
// how long a call's work waits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "metrics/intervals.h"
#include "metrics/spread.h"
#include "metrics/steps.h"
#include "metrics/view.h"

namespace sextant::metrics {

// A call waits from its own start until the first work it launched starts; a graph counts once.
struct QueueDepth {
  // Nanoseconds at which 0, 1, 2-3, 4-7, … 512-1023, 1024 or more calls waited.
  static constexpr std::size_t kClasses = 12;
  std::array<std::int64_t, kClasses> at_depth_ns{};
  std::int64_t waited_ns = 0;  // all calls' waiting in the window, added up
  std::int64_t deepest = 0;

  [[nodiscard]] std::int64_t total_ns() const;
  // Calls that waited at a moment, on average over time.
  [[nodiscard]] double mean() const;
  [[nodiscard]] double empty_share() const;
  QueueDepth& operator+=(const QueueDepth& other);
  bool operator==(const QueueDepth&) const = default;
};

// Of all streams of the rank together. Nothing where no launch is known.
std::optional<std::vector<QueueDepth>> queue_depths(const View& view, const RankLanes& rank,
                                                    const std::vector<Interval>& windows);

struct LaunchDelays {
  Spread delay;  // from the end of the call to the start of its first work, at least 0
  Spread idle;   // the same, of calls that found the stream idle: what a launch itself takes
  Spread call;   // of the calls themselves
  LaunchDelays& operator+=(const LaunchDelays& other);
  bool operator==(const LaunchDelays&) const = default;
};
// Of the work of each step, by place in RankSteps::steps.
std::vector<LaunchDelays> launch_delays(const View& view, const RankLanes& rank, const Steps& steps,
                                        std::size_t rank_number);

}  // namespace sextant::metrics
