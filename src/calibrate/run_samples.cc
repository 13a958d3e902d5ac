#include "calibrate/run_samples.h"

#include <utility>
#include <variant>

#include "measured/run_groups.h"
#include "step/estimate.h"
#include "validate/predict_runs.h"

namespace sextant::calibrate {

std::vector<RunSample> run_samples(const std::vector<measured::Row>& rows,
                                   const describe::DataStore& data) {
  validate::RunPredictor predictor(data);
  std::vector<RunSample> samples;
  for (const measured::Row& row : rows) {
    const bool scored = std::holds_alternative<measured::RunSubject>(row.subject) &&
                        row.quantity == "step_time_s" && row.trust != measured::Trust::kC &&
                        !row.refusal && row.measured > 0.0;
    if (!scored) {
      continue;
    }
    auto asked = predictor.question(row);
    if (auto* found = std::get_if<validate::RunQuestion>(&asked)) {
      const describe::Job& job = *found->job;
      samples.push_back({row.source, std::get<measured::RunSubject>(row.subject).origin,
                         measured::run_system(job.cluster), measured::run_configuration(job),
                         found->job,
                         std::make_shared<const step::StepModel>(std::move(found->machine.model)),
                         row.measured * 1_s});
    }
  }
  return samples;
}

std::vector<Seconds> predicted_steps(const std::vector<RunSample>& samples) {
  std::vector<Seconds> steps;
  steps.reserve(samples.size());
  for (const RunSample& sample : samples) {
    steps.push_back(step::estimate_step(*sample.job, *sample.model).step);
  }
  return steps;
}

std::vector<Seconds> predicted_steps(const std::vector<RunSample>& samples,
                                     const describe::StepFacts& facts) {
  std::vector<Seconds> steps;
  steps.reserve(samples.size());
  for (const RunSample& sample : samples) {
    step::StepModel model = *sample.model;
    model.facts = facts;
    steps.push_back(step::estimate_step(*sample.job, model).step);
  }
  return steps;
}

}  // namespace sextant::calibrate
