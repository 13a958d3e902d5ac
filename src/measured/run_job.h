// The job of a runs row: its model, cluster and layout put together, or why there is none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "describe/assumption.h"
#include "measured/hardware.h"
#include "measured/row.h"
#include "measured/run_cells.h"
#include "measured/run_model.h"

namespace sextant::measured {

struct RunJob {
  JobPointer job;
  std::string refusal;
  std::vector<std::string> beyond_layout;  // what a Layout cannot say
  describe::Assumptions assumed;
};

// An Error only where a file of data/ is broken.
Result<RunJob> run_job(const RunCells& run, const ModelReading& model, Hardware& hardware);

// What no step can be predicted without: sequence and batch. Nothing: both are stated.
std::optional<std::string> missing_batch(const RunCells& run);

}  // namespace sextant::measured
