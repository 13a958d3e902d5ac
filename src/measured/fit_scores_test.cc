#include "measured/fit_scores.h"

#include <gtest/gtest.h>

namespace sextant::measured {
namespace {

ValidatedRow job(double odds, bool ran) {
  ValidatedRow row;
  row.quantity = "fits";
  row.predicted = true;
  row.predicted_value = odds;
  row.measured_value = ran ? 1.0 : 0.0;
  return row;
}

TEST(FitScores, NothingIsScoredWhereNothingWasAsked) {
  ValidationReport report;
  report.rows.push_back(job(0.5, true));
  report.rows.front().quantity = "mem_gib";
  EXPECT_TRUE(fit_scores(report).bins.empty());
}

TEST(FitScores, JobsOfAFifthAreCountedTogether) {
  ValidationReport report;
  report.rows = {job(0.5, true), job(0.45, false), job(0.9, false), job(1.0, true), job(0.1, true)};
  const FitScores scores = fit_scores(report);
  ASSERT_EQ(scores.bins.size(), 3U);
  EXPECT_EQ(scores.bins[1].jobs, 2);
  EXPECT_DOUBLE_EQ(scores.bins[1].said, 0.475);
  EXPECT_DOUBLE_EQ(scores.bins[1].ran, 0.5);
  EXPECT_EQ(scores.bins[2].jobs, 2);  // certainty is of the last fifth
  EXPECT_EQ(scores.ran, 3);
  EXPECT_EQ(scores.failed, 2);
  EXPECT_EQ(scores.failed_said_to_fit, 1);
  EXPECT_EQ(scores.ran_said_to_fail, 1);
}

}  // namespace
}  // namespace sextant::measured
