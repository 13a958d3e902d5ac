// What the threads that launch work were at, moment by moment, in the words of signals.h.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "metrics/host_signs.h"
#include "metrics/signals.h"
#include "metrics/steps.h"
#include "metrics/view.h"

namespace sextant::metrics {

// Until the next one begins.
struct HostPiece {
  std::int64_t start_ns = 0;
  std::uint8_t signal = kNoSignal;  // a Signal, or kNoSignal: inside nothing that is known
  std::uint32_t what = kNone;       // number of a label; kNone: no name

  [[nodiscard]] bool is_alike(const HostPiece& other) const {
    return signal == other.signal && what == other.what;
  }
};
// By start; the first begins at kForeverAgo.
using HostTimeline = std::vector<HostPiece>;
inline constexpr std::int64_t kForeverAgo = std::numeric_limits<std::int64_t>::min();

struct HostThreads {
  std::vector<std::uint32_t> lanes;  // of those that launch work or hold the marks of steps
  std::vector<HostTimeline> own;     // of each, as `lanes`
  // Of all together: at each moment the most specific of what they were at. Where all were inside
  // nothing for long, kHostCode, or kStepStart and kStepEnd beside a mark of a step.
  HostTimeline all;
};

HostThreads host_threads(const View& view, const RankLanes& rank, const RankSteps& steps);

}  // namespace sextant::metrics
