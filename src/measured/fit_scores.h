// Whether odds that a job fits are right: of the jobs said to fit in so many of ten cases, how many
// ran?
//
// Scored are predicted rows of the quantity "fits" (1: ran, 0: ran out of memory), all sources
// together: batches grown until they failed, so most stand near the line.
#pragma once

#include <cstdint>
#include <vector>

#include "measured/validate.h"

namespace sextant::measured {

struct FitBin {
  double low = 0.0;  // odds, low ≤ odds < high; the last takes 1 too
  double high = 1.0;
  std::int64_t jobs = 0;
  double said = 0.0;  // mean odds
  double ran = 0.0;   // share
};

struct FitScores {
  std::vector<FitBin> bins;  // fifths, those with jobs
  std::int64_t ran = 0;
  std::int64_t failed = 0;
  std::int64_t failed_said_to_fit = 0;  // with odds of more than 80 %
  std::int64_t ran_said_to_fail = 0;    // with odds of less than 20 %
};

FitScores fit_scores(const ValidationReport& report);

}  // namespace sextant::measured
