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
// One of the same start is replaced, one that says the same goes on. REQUIRES: not empty.
void append_piece(HostTimeline& timeline, const HostPiece& piece);

// Goes along a timeline with moments that never go back.
class HostCursor {
 public:
  explicit HostCursor(const HostTimeline& timeline) : timeline_(timeline) {}
  // The place of the piece at the moment.
  std::size_t at(std::int64_t moment_ns) {
    while (at_ + 1 < timeline_.size() && timeline_[at_ + 1].start_ns <= moment_ns) {
      ++at_;
    }
    return at_;
  }
  [[nodiscard]] const HostPiece& piece(std::size_t place) const { return timeline_[place]; }
  [[nodiscard]] std::int64_t end_of(std::size_t place) const {
    return place + 1 < timeline_.size() ? timeline_[place + 1].start_ns
                                        : timeline::Timeline::kFarthestNs;
  }
  [[nodiscard]] std::size_t size() const { return timeline_.size(); }

 private:
  const HostTimeline& timeline_;
  std::size_t at_ = 0;
};

struct HostThreads {
  std::vector<std::uint32_t> lanes;  // of those that launch work or hold the marks of steps
  std::vector<HostTimeline> own;     // of each, as `lanes`
  // Of all together: at each moment the most specific of what they were at. Where all were inside
  // nothing for long, kHostCode, or kStepStart and kStepEnd beside a mark of a step.
  HostTimeline all;
};

// Whether calls that wait for the device are recorded: PyTorch's recorder shows them, XLA's none.
bool shows_waits(const View& view);

HostThreads host_threads(const View& view, const RankLanes& rank, const RankSteps& steps);

}  // namespace sextant::metrics
