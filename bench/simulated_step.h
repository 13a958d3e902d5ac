// A layout's step judged by the event simulator of its pipeline (schedule/simulate.h) rather than
// by the closed forms that a search asks.
#pragma once

#include "base/result.h"
#include "base/units.h"
#include "describe/layout/layout.h"
#include "search/problem.h"

namespace sextant::bench {

struct SimulatedStep {
  Seconds span;  // all microbatches through the pipeline, every action of every rank run
  Seconds step;  // that, and what the cost model adds once a step
  // The same with every rank's own gradients, parameters and update laid on its simulated timeline:
  // parameters are gathered from the step's start, gradients reduced from the rank's own last
  // backward on, so that a rank that starts late or ends early has time for them.
  Seconds each_rank;
};

// An Error where the schedule cannot run so many microbatches. REQUIRES: the layout is legal for
// the problem's job.
Result<SimulatedStep> simulated_step(const search::Problem& problem,
                                     const describe::Layout& layout);

}  // namespace sextant::bench
