// Which chain of waiting made a step as long as it was, on one rank.
//
// Walked backwards from the end of the window: a span on the device began when the last of these
// was done: the span before it on its stream; the call that launched it; the work that another
// stream had to finish first. From a call the path goes back along the host until that waited for
// the device, and there to the work it waited for; or until the device still had work queued that
// it had been given earlier: as long as that lasted, the device was behind and not the host. Every
// moment of the window lies in exactly one piece, so the shares add up to the window. No moment is
// the host's while queues were deep.
//
// Where the recorder notes no waits between streams, a span that begins when its own stream and its
// call were ready earlier, and just after another stream's span ended, is taken to have waited for
// that one: assumed_waits counts these. What a collective waits for on other ranks is not seen
// here.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "metrics/intervals.h"
#include "metrics/steps.h"
#include "metrics/view.h"

namespace sextant::metrics {

// What the path stands on at a moment.
enum class Bound : std::uint8_t {
  kCompute,
  kCommunication,
  kCopy,
  kBetweenKernels,  // the stream went on to its next span
  kLaunch,          // from a call's start to that of the work it launched
  kDependency,      // from the end of another stream's work to the start of what waited for it
  kHost,            // the host did something else than launch
  kSync,            // from the end of the work that the host waited for to its going on
  kUnknown,         // no call is known that launched it
};
inline constexpr std::size_t kBounds = 9;
std::string_view name_of(Bound bound);

struct PathPiece {
  Interval time;
  Bound bound = Bound::kHost;
  std::uint32_t span = kNone;  // on the device, or the call; kNone: between spans
};

struct CriticalPath {
  std::array<std::int64_t, kBounds> by_bound_ns{};  // adds up to the window
  std::int64_t assumed_waits = 0;
  std::vector<PathPiece> pieces;  // in order of time; empty unless asked for
  [[nodiscard]] std::int64_t total_ns() const;
};

// One for each kept step, in order; all in time n log n of the spans of the rank.
std::vector<CriticalPath> critical_paths(const View& view, const RankLanes& rank,
                                         const RankSteps& steps, bool with_pieces = false);

}  // namespace sextant::metrics
