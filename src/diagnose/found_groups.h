// Who met whom in the trace of a whole job, which says coordinates of ranks but no groups.
#pragma once

#include <vector>

#include "diagnose/meetings.h"
#include "metrics/summary.h"

namespace sextant::diagnose {

// Overlaps by less are a matter of when something was written down: the straggler study's own
// traces align clocks to 50 µs and compare moments to within 500 µs (StragglerAnalysis,
// dependency_model.py).
inline constexpr std::int64_t kSameMomentNs = 100'000;

// REQUIRES: all ranks were recorded on one clock. Linear in the instances for each way to hold
// coordinates fixed, of which a layout of three axes has eight.
std::vector<Meeting> found_meetings(const metrics::Summary& summary);

}  // namespace sextant::diagnose
