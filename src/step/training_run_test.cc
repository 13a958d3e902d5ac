#include "step/training_run.h"

#include <gtest/gtest.h>

namespace sextant::step {
namespace {

Estimate two_seconds() {
  Estimate result;
  result.step.step = 2_s;
  result.tokens = 1e6;
  result.devices = 8;
  return result;
}

// 4.5e9 tokens of 1e6 a step: 4500 steps of 2 s on 8 devices, 20 device-hours.
TEST(TrainingRun, StepsTimeAndDeviceHours) {
  const TrainingRun run = training_run({.tokens = 4.5e9, .price = 3.0}, two_seconds());
  EXPECT_EQ(run.steps, 4500);
  EXPECT_DOUBLE_EQ(run.time / 1_s, 9000.0);
  EXPECT_DOUBLE_EQ(run.device_hours(), 20.0);
  EXPECT_EQ(run.price, 3.0);
}

TEST(TrainingRun, TheLastStepIsAWholeOne) {
  EXPECT_EQ(training_run({.tokens = 1000001.0, .price = std::nullopt}, two_seconds()).steps, 2);
}

}  // namespace
}  // namespace sextant::step
