#include "step/estimate.h"

#include "step/step_costs.h"

namespace sextant::step {

StepEstimate estimate_step(const describe::Job& job, const StepModel& model) {
  StepCosts costs(job, model);
  StepEstimate estimate{costs.terms(job.layout), {}};
  estimate.stages = costs.stages();
  return estimate;
}

}  // namespace sextant::step
