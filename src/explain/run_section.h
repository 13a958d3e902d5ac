// Scores of training runs as a section of the ledger.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "explain/run_calibration_view.h"
#include "measured/run_scores.h"

namespace sextant::explain {

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

struct RunChecks {
  std::vector<RunHalf> halves;        // none or two
  std::vector<RunCoverage> coverage;  // by source, then "all"
};

// Markdown: "Steps of runs"; "" where no run is scored.
std::string run_section(const measured::RunScores& scores, const RunChecks& checks);

}  // namespace sextant::explain
