// What a host was at while all its launching threads were inside nothing that is known.
#pragma once

#include "metrics/host_timeline.h"

namespace sextant::metrics {

// The same timeline with these times named: beside the marks of steps (kStepStart, kStepEnd), in
// between (kHostCode), short ones (kDispatch), and what stands before or behind a copy to the host
// as that copy's.
HostTimeline named_gaps(const HostTimeline& all, const RankSteps& steps);

}  // namespace sextant::metrics
