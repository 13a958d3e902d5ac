// Intervals of predicted steps (data/step_spread.toml) from measured ones.
//
// Of each class with twelve rows or more: two quantiles of measured / predicted, widened to hold 1.
// They lie at a tenth from either end, moved by up to six hundredths so that the sources of the
// class, each counting the same, are covered as near to 80 % as two numbers allow.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/run_samples.h"
#include "describe/step_spread.h"

namespace sextant::calibrate {

// `origin` names the tables. An Error where there are fewer than twelve samples. REQUIRES: same
// sizes.
Result<describe::StepSpreads> fit_spreads(const std::vector<RunSample>& samples,
                                          const std::vector<Seconds>& predicted,
                                          const std::string& origin);

// How much of a source its intervals cover.
struct SpreadCoverage {
  std::string source;
  std::int64_t rows = 0;
  double seen = 0.0;    // intervals fitted on all rows
  double unseen = 0.0;  // each third of the configurations by intervals of the other two,
                        // mean of five ways to deal them
};
// By source, then of all ("all").
Result<std::vector<SpreadCoverage>> spread_coverage(const std::vector<RunSample>& samples,
                                                    const std::vector<Seconds>& predicted);

// Whether the interval of each sample holds what was measured.
std::vector<bool> inside(const std::vector<RunSample>& samples,
                         const std::vector<Seconds>& predicted,
                         const describe::StepSpreads& spreads);

}  // namespace sextant::calibrate
