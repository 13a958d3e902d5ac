#include "cost/calibrate/fit.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sextant::cost {
namespace {

std::vector<std::size_t> rows_up_to(std::size_t count) {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

// Rows of a + b·x for x = 1, 2, 4, …, 128: a start-up time and a rate.
constexpr std::size_t kLine = 8;
double on_line(double a, double b, std::size_t row) {
  return a + b * std::exp2(static_cast<double>(row));
}

FitProblem line_problem(double a, double b) {
  FitProblem problem;
  const FitConstant constant{.start = 1.0, .least = 0.01, .most = 100.0, .rows = rows_up_to(kLine)};
  problem.constants = {constant, constant};
  problem.all_rows = rows_up_to(kLine);
  problem.rounds = 12;
  problem.error = [a, b](std::span<const double> values, std::span<const std::size_t> rows) {
    double sum = 0.0;
    for (const std::size_t row : rows) {
      sum += std::abs(std::log(on_line(values[0], values[1], row) / on_line(a, b, row)));
    }
    return sum / static_cast<double>(rows.size());
  };
  return problem;
}

TEST(Fit, NoConstantsIsNoValues) {
  FitProblem problem;
  problem.error = [](std::span<const double>, std::span<const std::size_t>) { return 0.0; };
  EXPECT_TRUE(fitted_values(problem).empty());
}

TEST(Fit, AConstantThatNothingDependsOnStays) {
  FitProblem problem = line_problem(3.0, 0.5);
  problem.constants.push_back({.start = 7.0, .least = 1.0, .most = 9.0, .rows = rows_up_to(kLine)});
  EXPECT_EQ(fitted_values(problem)[2], 7.0);
}

TEST(Fit, AConstantWithoutRowsStays) {
  FitProblem problem = line_problem(3.0, 0.5);
  problem.constants[0].rows.clear();
  EXPECT_EQ(fitted_values(problem)[0], 1.0);
}

TEST(Fit, ValuesStayWithinTheirBounds) {
  FitProblem problem = line_problem(3.0, 50.0);
  problem.constants[1].most = 2.0;
  problem.constants[0].start = 1e9;
  const std::vector<double> values = fitted_values(problem);
  EXPECT_LE(values[0], 100.0);
  EXPECT_LE(values[1], 2.0);
}

// Two constants within a factor of 30 of their start, found again to 1 %.
RC_GTEST_PROP(Fit, FindsALineAgain, ()) {
  const double a = std::exp2(*rc::gen::inRange(-50, 50) / 10.0);
  const double b = std::exp2(*rc::gen::inRange(-50, 50) / 10.0);
  const FitProblem problem = line_problem(a, b);
  const std::vector<double> values = fitted_values(problem);
  RC_ASSERT(problem.error(values, problem.all_rows) < 0.01);
}

// The median is the best constant for the mean |log|: one wild row of five does not move it.
TEST(Fit, OneWildRowDoesNotMoveTheRest) {
  const std::vector<double> measured{10.0, 10.2, 9.9, 10.1, 500.0};
  FitProblem problem;
  problem.constants = {{.start = 1.0, .least = 0.1, .most = 1000.0, .rows = rows_up_to(5)}};
  problem.all_rows = rows_up_to(5);
  problem.error = [&](std::span<const double> values, std::span<const std::size_t> rows) {
    double sum = 0.0;
    for (const std::size_t row : rows) {
      sum += std::abs(std::log(values[0] / measured[row]));
    }
    return sum;
  };
  EXPECT_NEAR(fitted_values(problem)[0], 10.1, 0.02);
}

}  // namespace
}  // namespace sextant::cost
