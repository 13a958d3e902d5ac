// An estimated step as a Timeline: what each pipeline rank does when, to the end of the step.
//
// The pipeline is simulated by its schedule (schedule/simulate.h) with the estimate's own costs.
// What follows it (gradients and parameters that nothing hides, update, loop) is the slowest rank's
// and drawn on all of them: a step ends for all at once. Where the estimate takes a shortcut for a
// long pipeline, the drawn one is stretched to it. Exposed communication is drawn an axis, the sum
// of many messages: only those between stages are labelled with their operation and group.
#pragma once

#include "base/result.h"
#include "describe/layout/layout.h"
#include "schedule/draw.h"
#include "step/step_answer.h"
#include "timeline/timeline.h"

namespace sextant::step {

// Beside schedule's streams, which hold passes (whole, their exposed communication included) and
// messages between stages: communication inside passes that nothing hides, and after them.
inline constexpr StreamId kExposedStream{3};

// An Error where the schedule cannot run so many microbatches, or there are too many to draw.
Result<timeline::Timeline> step_timeline(const Estimate& result, const describe::Layout& layout);

}  // namespace sextant::step
