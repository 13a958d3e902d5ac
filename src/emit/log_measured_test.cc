#include "emit/log_measured.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sextant::emit {
namespace {

std::vector<StepLine> steps_of(const std::vector<double>& seconds) {
  std::vector<StepLine> steps;
  for (const double time : seconds) {
    StepLine step;
    step.step = static_cast<std::int64_t>(steps.size()) + 1;
    step.seconds = time;
    steps.push_back(step);
  }
  return steps;
}

MeasuredRun run_of(const std::vector<StepLine>& steps, const StepSize& size = {}) {
  return measured_run(steps, size).value_or(MeasuredRun{});
}
double seconds_of(const std::optional<Seconds>& time) {
  return time.value_or(Seconds(-1.0)).base();
}

TEST(MeasuredRun, IsNothingWithoutTimes) {
  EXPECT_FALSE(measured_run({}, {}));
  EXPECT_FALSE(measured_run(steps_of({0.0, 0.0}), {}));
}

TEST(MeasuredRun, LeavesTheFirstThreeOutAndThoseStillWarmingUp) {
  // The last half is 1.0; 1.3 lies above 1.25 times that, 1.2 does not.
  const MeasuredRun run = run_of(steps_of({9, 0.1, 5, 1.3, 1.3, 1.2, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(run.counted, 7);
  EXPECT_EQ(run.left_out, 5);
  EXPECT_DOUBLE_EQ(seconds_of(run.step), 1.0);
  EXPECT_EQ(run.notes, std::vector<std::string>{"step lines counted: 7; left out as warm-up: 5"});
}

TEST(MeasuredRun, DoesNotMindACheckpointAmongTheSteps) {
  const MeasuredRun run = run_of(steps_of({9, 5, 2, 1, 1, 1, 60, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_DOUBLE_EQ(seconds_of(run.step), 1.0);
  EXPECT_DOUBLE_EQ(seconds_of(run.spread), 0.0);  // 10th and 90th percentile of 11 ones and a 60
}

TEST(MeasuredRun, SaysSoWhereFewStepsAreLeft) {
  for (const std::size_t lines : {1U, 2U, 3U, 4U, 5U}) {
    const MeasuredRun run = run_of(steps_of(std::vector<double>(lines, 2.0)));
    EXPECT_EQ(run.counted, lines <= 4 ? 1 : 2);
    EXPECT_EQ(run.notes.size(), 2U);
    EXPECT_DOUBLE_EQ(seconds_of(run.step), 2.0);
  }
  EXPECT_EQ(run_of(steps_of(std::vector<double>(6, 2.0))).notes.size(), 1U);
}

TEST(MeasuredRun, CountsOnlyTheLastBatchSize) {
  auto steps = steps_of({1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].global_batch = i < 6 ? 32 : 64;
  }
  const MeasuredRun run = run_of(steps);
  EXPECT_DOUBLE_EQ(seconds_of(run.step), 2.0);
  EXPECT_EQ(run.global_batch, 64);
  EXPECT_EQ(run.counted, 3);
  EXPECT_EQ(run.left_out, 9);
}

TEST(MeasuredRun, TurnsRatesIntoTimesWhereTheTokensAreKnown) {
  auto steps = steps_of(std::vector<double>(8, 0.0));
  for (StepLine& step : steps) {
    step.tokens_per_second = 4096.0;
  }
  EXPECT_FALSE(run_of(steps).step);
  EXPECT_EQ(run_of(steps).tokens_per_second_per_device, 4096.0);
  StepSize size;
  size.tokens_per_device = 8192.0;
  EXPECT_DOUBLE_EQ(seconds_of(run_of(steps, size).step), 2.0);
}

TEST(MeasuredRun, CountsTokensWhereItKnowsTheJob) {
  StepSize size;
  size.global_batch = 64;
  size.sequence = 4096;
  size.world = 16;
  const MeasuredRun run = run_of(steps_of(std::vector<double>(8, 2.0)), size);
  EXPECT_DOUBLE_EQ(run.tokens_per_second_per_device.value_or(0.0), 64.0 * 4096.0 / 2.0 / 16.0);
}

TEST(MeasuredRun, LeavesAbsurdTimesOut) {
  const MeasuredRun run = run_of(steps_of({1, 1, 1, 1, 1, 1, 1, 1e300, -5, 1e-300}));
  EXPECT_EQ(run.counted, 4);
  EXPECT_DOUBLE_EQ(seconds_of(run.step), 1.0);
}

RC_GTEST_PROP(MeasuredRun, LiesAmongTheStepsAndCountsAll, (std::vector<std::uint16_t> times)) {
  std::vector<double> seconds(times.begin(), times.end());
  const MeasuredRun run = run_of(steps_of(seconds));
  const bool any = std::any_of(times.begin(), times.end(), [](auto t) { return t > 0; });
  RC_ASSERT(measured_run(steps_of(seconds), {}).has_value() == any);
  if (any) {
    RC_ASSERT(run.counted >= 1);
    RC_ASSERT(run.counted + run.left_out == static_cast<std::int64_t>(times.size()));
    RC_ASSERT(seconds_of(run.step) >= 1.0);
    RC_ASSERT(seconds_of(run.step) <= *std::max_element(seconds.begin(), seconds.end()));
    RC_ASSERT(seconds_of(run.spread) >= 0.0);
  }
}

// Scaling every time scales the answer.
RC_GTEST_PROP(MeasuredRun, ScalesWithItsSteps, (std::vector<std::uint16_t> times)) {
  std::vector<double> once(times.begin(), times.end());
  std::vector<double> twice = once;
  for (double& time : twice) {
    time *= 2.0;
  }
  const auto a = measured_run(steps_of(once), {});
  const auto b = measured_run(steps_of(twice), {});
  RC_ASSERT(a.has_value() == b.has_value());
  if (a) {
    RC_ASSERT(a->counted == b->counted);
    RC_ASSERT(a->step->base() * 2.0 == b->step->base());
  }
}

}  // namespace
}  // namespace sextant::emit
