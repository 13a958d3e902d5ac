#include "explain/plot_axis.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace sextant::explain {
namespace {

std::vector<std::string> texts(const PlotAxis& axis) {
  std::vector<std::string> result;
  for (const Tick& tick : axis.ticks) {
    result.push_back(tick.text);
  }
  return result;
}

TEST(LogAxis, EndsMoveOutToRoundNumbers) {
  const PlotAxis axis = log_axis(3.0, 40'000.0);
  EXPECT_DOUBLE_EQ(axis.low, 2.0);
  EXPECT_DOUBLE_EQ(axis.high, 50'000.0);
  EXPECT_DOUBLE_EQ(axis.share(2.0), 0.0);
  EXPECT_DOUBLE_EQ(axis.share(50'000.0), 1.0);
  EXPECT_LT(axis.share(1.0), 0.0);
}

TEST(LogAxis, RoundEndsStay) {
  const PlotAxis axis = log_axis(0.001, 1000.0);
  EXPECT_DOUBLE_EQ(axis.low, 0.001);
  EXPECT_DOUBLE_EQ(axis.high, 1000.0);
  // 1 is in the middle of 10⁻³ … 10³.
  EXPECT_NEAR(axis.share(1.0), 0.5, 1e-12);
}

TEST(LogAxis, LongOnesHaveTicksAtPowersOfTen) {
  EXPECT_EQ(texts(log_axis(0.02, 30'000.0)),
            (std::vector<std::string>{"0.1", "1", "10", "100", "1,000", "10,000"}));
}

TEST(LogAxis, ShortOnesHaveTicksAtTwoAndFive) {
  EXPECT_EQ(texts(log_axis(0.3, 9.0)),
            (std::vector<std::string>{"0.2", "0.5", "1", "2", "5", "10"}));
}

TEST(LogAxis, OneValueStillHasADecade) {
  const PlotAxis axis = log_axis(7.0, 7.0);
  EXPECT_GE(axis.high / axis.low, 10.0);
  EXPECT_GT(axis.share(7.0), 0.2);
  EXPECT_LT(axis.share(7.0), 0.8);
}

TEST(LogAxis, EveryRangeHasFewTicksInsideAndRising) {
  for (const double least : {1e-300, 1e-12, 0.5, 1.0, 3e7, 1e300}) {
    for (const double factor : {1.0, 3.0, 1e2, 1e5, 1e40, 1e300}) {
      const double most = std::min(least * factor, 1e308);
      const PlotAxis axis = log_axis(least, most);
      EXPECT_GE(axis.ticks.size(), 2U) << least << " " << most;
      EXPECT_LE(axis.ticks.size(), 10U) << least << " " << most;
      double last = -1.0;
      for (const Tick& tick : axis.ticks) {
        EXPECT_GT(axis.share(tick.value), last);
        EXPECT_GE(axis.share(tick.value), -1e-6);
        EXPECT_LE(axis.share(tick.value), 1.0 + 1e-6);
        last = axis.share(tick.value);
      }
    }
  }
}

TEST(PercentAxis, SmallErrorsStillShowTwentyPercent) {
  const std::vector<double> errors{0.001, -0.002};
  const PlotAxis axis = percent_axis(errors);
  EXPECT_DOUBLE_EQ(axis.low, -20.0);
  EXPECT_DOUBLE_EQ(axis.high, 20.0);
  EXPECT_EQ(texts(axis), (std::vector<std::string>{"-20 %", "-15 %", "-10 %", "-5 %", "0 %", "+5 %",
                                                   "+10 %", "+15 %", "+20 %"}));
  EXPECT_DOUBLE_EQ(percent_axis({}).high, 20.0);
}

TEST(PercentAxis, TwoInAHundredMayLieOutside) {
  std::vector<double> errors(98, 0.1);
  errors.push_back(3.0);
  errors.push_back(-0.9);
  EXPECT_DOUBLE_EQ(percent_axis(errors).high, 20.0);
  errors.push_back(3.0);  // 98 of 101 are fewer than 98 %; −90 % asks for ±100, and then 99 are in
  EXPECT_DOUBLE_EQ(percent_axis(errors).high, 100.0);
}

TEST(PercentAxis, EndsAtMinusOneHundred) {
  const std::vector<double> errors{4.0, -1.0};
  const PlotAxis axis = percent_axis(errors);
  EXPECT_DOUBLE_EQ(axis.low, -100.0);
  EXPECT_DOUBLE_EQ(axis.high, 500.0);
}

}  // namespace
}  // namespace sextant::explain
