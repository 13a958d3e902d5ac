#include "measured/fit_scores.h"

#include <algorithm>
#include <array>

#include "base/integers.h"

namespace sextant::measured {
namespace {

constexpr std::size_t kFitBins = 5;

}  // namespace

FitScores fit_scores(const ValidationReport& report) {
  FitScores scores;
  std::array<FitBin, kFitBins> bins;
  for (const ValidatedRow& row : report.rows) {
    if (row.quantity != "fits" || !row.predicted_value) {
      continue;
    }
    const double odds = *row.predicted_value;
    const bool ran = row.measured_value > 0.0;
    const auto at = std::min(kFitBins - 1, static_cast<std::size_t>(odds * kFitBins));
    FitBin& bin = bins.at(at);
    bin.jobs += 1;
    bin.said += odds;
    bin.ran += ran ? 1.0 : 0.0;
    (ran ? scores.ran : scores.failed) += 1;
    scores.failed_said_to_fit += !ran && odds > 0.8 ? 1 : 0;
    scores.ran_said_to_fail += ran && odds < 0.2 ? 1 : 0;
  }
  for (std::size_t i = 0; i < bins.size(); ++i) {
    FitBin& bin = bins.at(i);
    if (bin.jobs > 0) {
      bin.low = static_cast<double>(i) / kFitBins;
      bin.high = static_cast<double>(i + 1) / kFitBins;
      bin.said /= as_double(bin.jobs);
      bin.ran /= as_double(bin.jobs);
      scores.bins.push_back(bin);
    }
  }
  return scores;
}

}  // namespace sextant::measured
