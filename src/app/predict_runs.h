// What the step model says of published runs.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/step_models.h"
#include "describe/step_spread.h"
#include "measured/validate.h"

namespace sextant::app {

// A run that can be predicted: what it trains and the model of its machine.
struct RunQuestion {
  measured::JobPointer job;
  step::StepModel model;
  std::vector<std::string> assumed;
};

class RunPredictor {
 public:
  // `data` must outlive it.
  explicit RunPredictor(const describe::DataStore& data) : data_(data), models_(data) {}
  // Answers the times and rates of runs, with the interval that eight of ten lie in.
  measured::Answer operator()(const measured::Row& row);
  // The job and its machine, or why there is no prediction. REQUIRES: the row is of a run.
  std::variant<RunQuestion, measured::Refusal> question(const measured::Row& row);

 private:
  const describe::DataStore& data_;
  StepModels models_;
  std::optional<describe::StepSpreads> spreads_;  // read once
};

}  // namespace sextant::app
