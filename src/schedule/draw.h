// A simulated pipeline as a Timeline: what each rank did when, for people and for laying it over a
// measured step.
#pragma once

#include "schedule/simulate.h"
#include "timeline/timeline.h"

namespace sextant::schedule {

// Stream of a rank's lanes.
inline constexpr StreamId kComputeStream{0};
inline constexpr StreamId kSendForwardStream{1};
inline constexpr StreamId kSendBackwardStream{2};

struct DrawOptions {
  bool bubbles = true;  // idle spans where a rank waits, from the first start to the last end
};

// Ranks are pipeline ranks. One span a slot on the compute stream, one a transfer that takes time
// on the sender's send streams; ranks in order, each lane's spans by start. A span is named after
// its action and microbatch, so that a microbatch has one name (and, in a viewer, one colour) on
// all ranks: "F17", or "F17 chunk 2" where the rank holds several stages, counted in model order;
// two in one slot are "F17 chunk 0 + B4 chunk 1". A transfer is said to be a message in the group
// "pp" of all ranks; how large it is, costs do not tell. Sorted. REQUIRES: the workspace of the
// latest simulate() of this table and costs.
timeline::Timeline timeline_of(const CompiledTable& table, const PipelineCosts& costs,
                               const Workspace& run, const DrawOptions& options = {});

}  // namespace sextant::schedule
