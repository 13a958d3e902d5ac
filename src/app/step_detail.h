// What a step's explanation goes down to: operators and priced messages of the slowest pipeline
// rank's stages.
#pragma once

#include "describe/layout/job.h"
#include "explain/step_tree.h"
#include "step/step_model.h"

namespace sextant::app {

// REQUIRES: the job is legal, `result` is its.
explain::StepDetail step_detail(const describe::Job& job, const explain::StepResult& result,
                                const step::StepModel& model);

}  // namespace sextant::app
