// HTA's idle breakdown, queue lengths and launch statistics (definitions: docs/metrics.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "metrics/hta_rows.h"

namespace sextant::metrics {

// As pandas' describe(): of a sample; quartiles interpolated.
struct HtaSummary {
  std::int64_t count = 0;
  double mean = 0.0;
  double deviation = 0.0;  // of fewer than two: 0
  double min = 0.0;
  double quarter = 0.0;
  double median = 0.0;
  double three_quarters = 0.0;
  double max = 0.0;
};

enum class HtaIdle : std::uint8_t { kHostWait, kKernelWait, kOther };
inline constexpr std::size_t kHtaIdles = 3;

struct HtaStreamIdle {
  StreamId stream;
  std::array<std::int64_t, kHtaIdles> time_us{};
  std::array<std::optional<HtaSummary>, kHtaIdles> gaps;  // nothing where there is none
  [[nodiscard]] std::int64_t total_us() const;
};
// Gaps between one row of work and the next on a stream, by start. `delay_us`: a gap shorter than
// this that the host did not cause is the device's own.
std::vector<HtaStreamIdle> hta_idle(const HtaRank& rank, std::int64_t delay_us = 30);

struct HtaQueue {
  StreamId stream;
  HtaSummary length;         // over its changes, not over time
  std::int64_t full_us = 0;  // with 1024 or more
};
// What comes first of what happens within one microsecond. HTA leaves it to a sort that keeps no
// order, so its numbers lie between those of the two.
enum class HtaTies : std::uint8_t { kEnterFirst, kLeaveFirst };
std::vector<HtaQueue> hta_queues(const HtaRank& rank, HtaTies ties = HtaTies::kEnterFirst);

struct HtaLaunches {
  std::int64_t rows = 0;
  std::int64_t cpu_us = 0;
  std::int64_t gpu_us = 0;
  HtaSummary delay_us;
  std::int64_t delay_total_us = 0;
  std::int64_t short_kernels = 0;  // shorter than their call
  std::int64_t long_calls = 0;     // over 50 us
  std::int64_t long_delays = 0;    // over 100 us
};
HtaLaunches hta_launches(const HtaRank& rank);

}  // namespace sextant::metrics
