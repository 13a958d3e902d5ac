// Measured steps of runs with everything that predicts them, read and prepared once: what fits of
// the step model go over again and again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/units.h"
#include "describe/data_store.h"
#include "measured/row.h"
#include "step/step_model.h"

namespace sextant::calibrate {

struct RunSample {
  std::string source;
  std::string origin;         // the paper or repository of the row
  std::string system;         // measured::run_system of its cluster
  std::string configuration;  // equal where the same job was measured again
  measured::JobPointer job;
  std::shared_ptr<const step::StepModel> model;
  Seconds measured;
};

// The step times of trust A and B that can be predicted, in the order of the rows.
std::vector<RunSample> run_samples(const std::vector<measured::Row>& rows,
                                   const describe::DataStore& data);

// What the model says of each, by the constants that its samples have.
std::vector<Seconds> predicted_steps(const std::vector<RunSample>& samples);
// The same by other constants.
std::vector<Seconds> predicted_steps(const std::vector<RunSample>& samples,
                                     const describe::StepFacts& facts);

}  // namespace sextant::calibrate
