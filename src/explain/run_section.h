// Scores of training runs as a section of the ledger.
#pragma once

#include <string>
#include <vector>

#include "calibrate/difference_fit.h"
#include "calibrate/run_halves.h"
#include "calibrate/spread_fit.h"
#include "measured/run_scores.h"

namespace sextant::explain {

struct RunChecks {
  std::vector<calibrate::RunHalf> halves;                  // none or two
  std::vector<calibrate::SpreadCoverage> coverage;         // by source, then "all"
  std::vector<calibrate::DifferenceCoverage> differences;  // by source
};

// Markdown: "Steps of runs"; "" where no run is scored.
std::string run_section(const measured::RunScores& scores, const RunChecks& checks);

}  // namespace sextant::explain
