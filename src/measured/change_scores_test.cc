#include "measured/change_scores.h"

#include <gtest/gtest.h>

namespace sextant::measured {
namespace {

struct Case {
  double measured;
  double predicted;
  double low;
  double high;
  Trust trust = Trust::kA;
};

ChangeScores scores_of(const std::vector<Case>& cases) {
  std::vector<Row> rows;
  for (const Case& one : cases) {
    Row row;
    row.quantity = kSpeedRatio;
    row.measured = one.measured;
    row.trust = one.trust;
    row.subject = ChangeSubject{{}, {}, "mbs", "A title", "owner-name"};
    rows.push_back(row);
  }
  std::size_t next = 0;
  return change_scores(rows, validate(rows, [&](const Row&) -> Answer {
                         const Case& one = cases[next++];
                         return Prediction{one.predicted, std::pair{one.low, one.high}, {}};
                       }));
}

TEST(ChangeScores, CountDirectionsAndVerdicts) {
  const ChangeScores scores = scores_of({{1.10, 1.08, 1.01, 1.15},    // told, right
                                         {0.90, 1.02, 0.95, 1.10},    // not told, wrong way
                                         {1.03, 0.90, 0.85, 0.97},    // told, wrong
                                         {1.01, 1.00, 0.90, 1.10}});  // too small to judge
  EXPECT_EQ(scores.all.expressed, 4);
  EXPECT_EQ(scores.all.telling, 3);
  EXPECT_EQ(scores.all.direction, 1);
  EXPECT_EQ(scores.all.told, 2);
  EXPECT_EQ(scores.all.agreed, 1);
  EXPECT_EQ(scores.all.large, 2);
  EXPECT_EQ(scores.all.large_told, 1);
  EXPECT_EQ(scores.all.inside, 2);
  ASSERT_EQ(scores.kinds.size(), 1U);
  EXPECT_EQ(scores.kinds[0].name, "mbs");
  // 2, 12, 13 and 1 points; half of 14, 15, 12 and 20.
  EXPECT_NEAR(scores.all.difference.value_or(0.0), 0.07, 1e-9);
  EXPECT_NEAR(scores.all.half_width.value_or(0.0), 0.0725, 1e-9);
}

TEST(ChangeScores, RowsOfTrustCAreShownAndNotScored) {
  const ChangeScores scores = scores_of({{1.10, 1.08, 1.01, 1.15, Trust::kC}});
  EXPECT_EQ(scores.rows.size(), 1U);
  EXPECT_EQ(scores.all.rows, 1);
  EXPECT_EQ(scores.all.expressed, 0);
}

TEST(ChangeScores, OfOtherTablesAreEmpty) {
  EXPECT_TRUE(change_scores({Row{}}, validate({Row{}}, refuse_all)).empty());
}

TEST(SignTold, NeedsAnIntervalBesideOne) {
  EXPECT_EQ(sign_told({1.01, 1.2}), 1);
  EXPECT_EQ(sign_told({0.8, 0.99}), -1);
  EXPECT_EQ(sign_told({0.99, 1.01}), 0);
  EXPECT_EQ(sign_told({1.0, 1.2}), 0);
}

}  // namespace
}  // namespace sextant::measured
