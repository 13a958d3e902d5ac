// Where a step's time goes on the device, exact: compute, exposed communication, exposed copy and
// idle add up to the step. Overlaps count once, and for compute before communication before copies.
#pragma once

#include <cstdint>
#include <vector>

#include "metrics/intervals.h"
#include "metrics/view.h"

namespace sextant::metrics {

struct Breakdown {
  std::int64_t compute_ns = 0;
  std::int64_t exposed_communication_ns = 0;  // nothing computes beside it
  std::int64_t exposed_copy_ns = 0;           // nothing computes or communicates beside it
  std::int64_t idle_ns = 0;                   // nothing runs
  // Not part of the sum: all moments of communication and of copies, and of those with compute.
  std::int64_t communication_ns = 0;
  std::int64_t copy_ns = 0;
  std::int64_t overlap_ns = 0;  // communication and compute at once

  [[nodiscard]] std::int64_t busy_ns() const {
    return compute_ns + exposed_communication_ns + exposed_copy_ns;
  }
  [[nodiscard]] std::int64_t total_ns() const { return busy_ns() + idle_ns; }
  Breakdown& operator+=(const Breakdown& other);
  bool operator==(const Breakdown&) const = default;
};

// When a rank's device does what. A rank without a device (gloo on CPUs): its threads'
// communications, and as compute every moment at which an operator runs on one.
struct Activity {
  Intervals compute;
  Intervals communication;
  Intervals copy;
  Intervals busy;  // any of them
};
Activity activity_of(const View& view, const RankLanes& rank);

// How much of each window the moments cover. REQUIRES: windows in order, not overlapping.
std::vector<std::int64_t> lengths_within(const Intervals& of, const std::vector<Interval>& windows);

// One for each window. REQUIRES: windows in order, not overlapping.
std::vector<Breakdown> breakdowns(const Activity& activity, const std::vector<Interval>& windows);

}  // namespace sextant::metrics
