#include "base/statistics.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace sextant {
namespace {

TEST(Statistics, NothingOfNothing) {
  EXPECT_FALSE(mean({}));
  EXPECT_FALSE(median({}));
  EXPECT_FALSE(top1_regret({}, {}));
  EXPECT_FALSE(kendall_tau_b({}, {}));
}

TEST(Statistics, QuantilesInterpolateLikeNumPy) {
  const std::vector<double> values{4.0, 1.0, 3.0, 2.0};
  EXPECT_DOUBLE_EQ(*median(values), 2.5);
  EXPECT_DOUBLE_EQ(*quantile(values, 0.9), 3.7);  // numpy.quantile([1,2,3,4], 0.9)
  EXPECT_DOUBLE_EQ(*quantile(values, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(*quantile(values, 1.0), 4.0);
}

TEST(Kendall, SameReversedAndOneSwap) {
  const std::vector<double> a{1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(*kendall_tau_b(a, a), 1.0);
  EXPECT_DOUBLE_EQ(*kendall_tau_b(a, std::vector<double>{4, 3, 2, 1}), -1.0);
  // One of six pairs is discordant: (5 - 1) / 6.
  EXPECT_DOUBLE_EQ(*kendall_tau_b(a, std::vector<double>{2, 1, 3, 4}), 4.0 / 6.0);
}

TEST(Kendall, TiesFollowTauB) {
  // scipy.stats.kendalltau([1,2,3,4],[1,1,2,3]) = 0.9128709291752769
  EXPECT_NEAR(*kendall_tau_b(std::vector<double>{1, 2, 3, 4}, std::vector<double>{1, 1, 2, 3}),
              0.9128709291752769, 1e-15);
  EXPECT_FALSE(kendall_tau_b(std::vector<double>{1, 1}, std::vector<double>{1, 2}));
}

TEST(Regret, IsTheCostOfTrustingThePrediction) {
  const std::vector<double> measured{10.0, 8.0, 9.0};
  EXPECT_DOUBLE_EQ(*top1_regret(measured, std::vector<double>{3, 1, 2}), 0.0);
  EXPECT_DOUBLE_EQ(*top1_regret(measured, std::vector<double>{1, 3, 2}), 0.25);
  // Tied predictions: the mean of 10 and 8 against 8.
  EXPECT_DOUBLE_EQ(*top1_regret(measured, std::vector<double>{1, 1, 2}), 0.125);
}

TEST(Statistics, TheMedianIsBetweenTheExtremesAndOrderDoesNotMatter) {
  EXPECT_TRUE(rc::check([](std::vector<int> ints) {
    RC_PRE(!ints.empty());
    const std::vector<double> values(ints.begin(), ints.end());
    std::vector<double> reversed(values.rbegin(), values.rend());
    const double m = *median(values);
    RC_ASSERT(m == *median(reversed));
    RC_ASSERT(m >= *quantile(values, 0.0));
    RC_ASSERT(m <= *quantile(values, 1.0));
  }));
}

}  // namespace
}  // namespace sextant
