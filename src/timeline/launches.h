// Which call on the host started what on the device: by correlation, within a rank.
#pragma once

#include <cstdint>
#include <vector>

#include "timeline/timeline.h"

namespace sextant::timeline {

// Numbers of spans in Timeline::spans(), until its next add() or sort().
struct Launch {
  std::uint32_t call = 0;     // of kind kHost
  std::uint32_t started = 0;  // of any other kind
  bool operator==(const Launch&) const = default;
};

// One for each span that is not the host's and whose correlation a call on its rank has, in the
// order of `started`. A call may have started several (a graph of kernels). Of calls that share a
// correlation it is the one that starts first, the longest of those: the outermost. Takes 16 bytes
// for each span with a correlation while it works, beside the answer.
std::vector<Launch> launches(const Timeline& timeline);

}  // namespace sextant::timeline
