// What the step model says of published runs.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "machine/machine.h"
#include "measured/validate.h"

namespace sextant::validate {

// A run that can be predicted: what it trains and its machine.
struct RunQuestion {
  measured::JobPointer job;
  machine::StepMachine machine;
};

class RunPredictor {
 public:
  // `data` must outlive it.
  explicit RunPredictor(const describe::DataStore& data) : machines_(data) {}
  // Answers the times and rates of runs, with the interval that eight of ten lie in.
  measured::Answer operator()(const measured::Row& row);
  // The job and its machine, or why there is no prediction. REQUIRES: the row is of a run.
  std::variant<RunQuestion, measured::Refusal> question(const measured::Row& row);

 private:
  machine::Machines machines_;
};

}  // namespace sextant::validate
