// How long a training step takes, and where the time goes.
//
//   step = microbatches on the slowest pipeline rank + bubble + messages between stages
//        + gradients and parameters that nothing hides + update + what the loop does beside
//
// The terms add up to the step. Pipelines: docs/models/step.md. For many layouts of one job:
// step/search.h, whose code this is.
#pragma once

#include <vector>

#include "step/stage_cost.h"
#include "step/step_record.h"

namespace sextant::step {

struct StepTerms {
  Seconds step;
  // Of the slowest pipeline rank, over the whole step; they add up to `step`.
  Seconds compute;    // operators, what communication beside them slows included
  Seconds host;       // waiting for the host
  AxisTimes exposed;  // communication by axis, messages between stages in pp
  Seconds bubble;     // idle in the pipeline
  Seconds update;     // optimizer and clipping
  Seconds beside;     // the training loop, uneven devices (a share of compute − slowed)
  AxisTimes hidden;   // communication behind compute: not in the step
  Seconds slowed;     // of `compute`: what communication beside it adds
  // Operators and update of a device, the mean of all pipeline ranks, `slowed` apart.
  Seconds computing;
  std::int64_t slowest_rank = 0;
  // Whose gradients, parameters and update the step ends with: of these terms they are its own.
  std::int64_t once_rank = 0;
};

struct StepEstimate : StepTerms {
  std::vector<StageCost> stages;  // in model order
};

// REQUIRES: check_rules finds nothing for the job.
StepEstimate estimate_step(const describe::Job& job, const StepModel& model);

// The same with what it is made of.
struct RecordedStep {
  StepEstimate estimate;
  StepRecord record;
};
RecordedStep recorded_step(const describe::Job& job, const StepModel& model);

}  // namespace sextant::step
