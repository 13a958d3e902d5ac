// When each thread of a rank was inside a call that waits for the device.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "metrics/intervals.h"
#include "metrics/view.h"

namespace sextant::metrics {

class HostWaits {
 public:
  HostWaits(const View& view, const RankLanes& rank);

  // The thread's waits that end after the moment, in order.
  [[nodiscard]] std::span<const Interval> from(std::uint32_t thread, std::int64_t at_ns) const;
  // The last wait that began before the moment, of those threads that launch work; null: there is
  // none.
  [[nodiscard]] const Interval* last_before(std::int64_t at_ns) const;

 private:
  std::map<std::uint32_t, std::vector<Interval>> by_thread_;  // by lane
  std::vector<Interval> of_launching_;                        // by start
};

}  // namespace sextant::metrics
