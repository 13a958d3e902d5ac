// Memory of a rank's device, as the allocator's own record says.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "metrics/intervals.h"
#include "metrics/view.h"

namespace sextant::metrics {

struct MemoryPeak {
  std::int64_t allocated_bytes = 0;
  std::int64_t reserved_bytes = 0;
  std::int64_t allocated_at_ns = 0;  // when the peak of allocated was reached first
  bool operator==(const MemoryPeak&) const = default;
};

// Of each window (of the host: allocation is the host's doing); what was allocated before counts.
// Nothing where memory was not recorded or nothing is known of it yet.
std::vector<std::optional<MemoryPeak>> memory_peaks(const View& view, RankId rank,
                                                    const std::vector<Interval>& windows);

}  // namespace sextant::metrics
