#include "cost/memory/in_flight.h"

#include <algorithm>

namespace sextant::cost {

using describe::Layout;
using describe::Schedule;

namespace {

// Forward passes in flight on the rank when its first backward begins, dealt to chunks: groups of
// pp microbatches pass through chunk 0, then chunk 1, and so on, before the next group starts.
std::int64_t interleaved(const Layout& layout, std::int64_t microbatches, std::int64_t stage) {
  const std::int64_t rank = stage % layout.pp;
  const std::int64_t chunk = stage / layout.pp;
  const std::int64_t all = microbatches * layout.vpp;
  const std::int64_t warm_up = 2 * (layout.pp - rank - 1) + (layout.vpp - 1) * layout.pp;
  const std::int64_t started = std::min(all, warm_up + 1);
  const std::int64_t round = layout.pp * layout.vpp;
  const std::int64_t rest = started % round - chunk * layout.pp;
  return std::min(microbatches,
                  started / round * layout.pp + std::clamp<std::int64_t>(rest, 0, layout.pp));
}

}  // namespace

std::int64_t in_flight(const Layout& layout, std::int64_t microbatches, std::int64_t stage) {
  switch (layout.schedule) {
    case Schedule::kGpipe:
    case Schedule::kLoopedBfs:
      return microbatches;
    case Schedule::kInterleaved1f1b:
    case Schedule::kInterleavedZeroBubble:
      return interleaved(layout, microbatches, stage);
    case Schedule::k1f1b:
      if (layout.vpp > 1) {
        return interleaved(layout, microbatches, stage);
      }
      return std::min(microbatches, layout.pp - stage);
    case Schedule::kZbv:
    case Schedule::kDualPipeV:
      return std::min(microbatches, layout.stages() - stage);
    case Schedule::kDualPipe:
      return std::min(std::max<std::int64_t>(microbatches / 2, 1), layout.pp - stage);
  }
  return microbatches;
}

}  // namespace sextant::cost
