#include "metrics/memory.h"

#include <algorithm>

namespace sextant::metrics {

std::vector<std::optional<MemoryPeak>> memory_peaks(const View& view, RankId rank,
                                                    const std::vector<Interval>& windows) {
  using timeline::MemoryPoint;
  const std::vector<MemoryPoint>& all = view.recording->memory;
  auto at = std::partition_point(all.begin(), all.end(),
                                 [&](const MemoryPoint& point) { return point.rank < rank; });
  std::vector<std::optional<MemoryPeak>> peaks;
  std::optional<MemoryPeak> held;  // what the windows begin with
  for (const Interval& window : windows) {
    const auto is_until = [&](std::int64_t end_ns) {
      return at != all.end() && at->rank == rank && at->at_ns < end_ns;
    };
    for (; is_until(window.start_ns); ++at) {
      held = MemoryPeak{at->allocated_bytes, at->reserved_bytes, window.start_ns};
    }
    std::optional<MemoryPeak> peak = held;
    if (peak) {
      peak->allocated_at_ns = window.start_ns;
    }
    for (; is_until(window.end_ns); ++at) {
      held = MemoryPeak{at->allocated_bytes, at->reserved_bytes, at->at_ns};
      if (!peak) {
        peak = held;
      }
      if (at->allocated_bytes > peak->allocated_bytes) {
        peak->allocated_bytes = at->allocated_bytes;
        peak->allocated_at_ns = at->at_ns;
      }
      peak->reserved_bytes = std::max(peak->reserved_bytes, at->reserved_bytes);
    }
    peaks.push_back(peak);
  }
  return peaks;
}

}  // namespace sextant::metrics
