// Runs on systems that no fit has seen: constants of the step model and
// intervals fitted on half of the systems, scored on the other half, both ways.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "calibrate/run_samples.h"
#include "describe/data_store.h"
#include "measured/row.h"

namespace sextant::calibrate {

// Half of the systems. Errors are means over sources, a row counting at most 1.
struct RunHalf {
  std::int64_t rows = 0;
  std::int64_t systems = 0;
  double now = 0.0;       // by the constants of the data files, which have seen both halves
  double fitted = 0.0;    // by constants fitted on this half alone
  double left_out = 0.0;  // by constants fitted on the other half alone
  double covered = 0.0;   // share inside the interval, likewise
  double covered_left_out = 0.0;
  std::vector<std::pair<std::string, std::string>> constants;  // fitted on this half: key, value
};

// Every other system in the order of names is the one half. Fits start in the middle of every
// range, not at values that have seen both. Empty where either half has fewer than twelve rows.
Result<std::vector<RunHalf>> run_halves(const std::vector<measured::Row>& rows,
                                        const describe::DataStore& data);
// The same of samples already prepared.
Result<std::vector<RunHalf>> run_halves(const std::vector<RunSample>& samples);

}  // namespace sextant::calibrate
