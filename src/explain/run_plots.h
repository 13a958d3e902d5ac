// Pictures of predicted steps of runs: by device, and how much of each source its intervals hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explain/drawing.h"
#include "explain/validation_plot.h"
#include "measured/row.h"
#include "measured/validate.h"

namespace sextant::explain {

// Step times of the scored runs, a series a device; without series where none is scored.
// REQUIRES: `report` is validate's of `rows`.
ValidationPlot runs_by_device(const std::vector<measured::Row>& rows,
                              const measured::ValidationReport& report);

struct CoverageBar {
  std::string name;
  std::int64_t rows = 0;
  double share = 0.0;  // inside the interval
};

// A bar a source over the band that must hold.
Drawing coverage_drawing(const std::vector<CoverageBar>& bars);

}  // namespace sextant::explain
