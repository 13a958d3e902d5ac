#include "step/estimate.h"

#include <utility>

#include "step/step_costs.h"

namespace sextant::step {

namespace {

StepEstimate estimate_of(const describe::Job& job, StepCosts& costs) {
  StepEstimate estimate{costs.terms(job.layout), {}};
  estimate.stages = costs.stages();
  return estimate;
}

}  // namespace

StepEstimate estimate_step(const describe::Job& job, const StepModel& model) {
  StepCosts costs(job, model);
  return estimate_of(job, costs);
}

RecordedStep recorded_step(const describe::Job& job, const StepModel& model) {
  StepCosts costs(job, model);
  StepEstimate estimate = estimate_of(job, costs);
  return {std::move(estimate), costs.record()};
}

}  // namespace sextant::step
