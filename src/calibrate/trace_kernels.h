// Timed kernels of a device from a profile of training: what a table of kernels would say
// (measured/, "gpu kernels"), from the shapes that were recorded.
//
// Products forward as they are; of the backward pass those whose sizes are a forward one's, told
// apart by which of its sizes is summed over. Fused attention whose mask is causal. Each with the
// mean of its occurrences, in the clock and at the power that training leaves it. Shorter ones than
// kLeastTraced are left out: of these a table times the host, too, which a profile does not.
#pragma once

#include <string>

#include "base/units.h"
#include "metrics/summary.h"

namespace sextant::calibrate {

inline constexpr Seconds kLeastTraced = 50_us;

// As CSV, a line each; the header alone where there is none.
std::string traced_kernels(const metrics::Summary& summary);

}  // namespace sextant::calibrate
