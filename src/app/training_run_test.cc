#include "app/training_run.h"

#include <gtest/gtest.h>

namespace sextant::app {
namespace {

step::Estimate two_seconds() {
  step::Estimate result;
  result.step.step = 2_s;
  result.tokens = 1e6;
  result.devices = 8;
  return result;
}

TEST(TrainingRun, NoTokensNoTraining) {
  const auto run = training_run({.tokens = "", .price = ""}, two_seconds());
  ASSERT_TRUE(run);
  EXPECT_FALSE(run->has_value());
}

explain::TrainingRun run_of(const char* tokens, const char* price = "") {
  const auto run = training_run({.tokens = tokens, .price = price}, two_seconds());
  EXPECT_TRUE(run) << tokens;
  return run ? run->value_or(explain::TrainingRun{}) : explain::TrainingRun{};
}

// 4.5e9 tokens of 1e6 a step: 4500 steps of 2 s on 8 devices, 20 device-hours.
TEST(TrainingRun, StepsTimeAndDeviceHours) {
  const explain::TrainingRun run = run_of("4.5B", "3");
  EXPECT_EQ(run.steps, 4500);
  EXPECT_DOUBLE_EQ(run.time / 1_s, 9000.0);
  EXPECT_DOUBLE_EQ(run.device_hours(), 20.0);
  EXPECT_EQ(run.price, 3.0);
}

TEST(TrainingRun, TheLastStepIsAWholeOne) {
  EXPECT_EQ(run_of("1000001").steps, 2);
}

TEST(TrainingRun, SuffixesAreThoseOfPeople) {
  for (const auto& [text, tokens] : {std::pair("15T", 15e12),
                                     {"15t", 15e12},
                                     {"2 B", 2e9},
                                     {"1.5M", 1.5e6},
                                     {"10k", 1e4},
                                     {"7", 7.0}}) {
    EXPECT_DOUBLE_EQ(run_of(text).tokens, tokens) << text;
  }
}

TEST(TrainingRun, WhatIsNoNumberSaysWhatIsAllowed) {
  for (const char* text : {"abc", "T", "-1B", "0", "nan", "1e30", "15TB", "1,5T"}) {
    const auto run = training_run({.tokens = text, .price = ""}, two_seconds());
    ASSERT_FALSE(run) << text;
    EXPECT_EQ(run.error().where, "--tokens");
    EXPECT_FALSE(run.error().allowed.empty());
  }
  for (const char* text : {"-1", "x", "inf", "2.5$"}) {
    const auto run = training_run({.tokens = "1T", .price = text}, two_seconds());
    ASSERT_FALSE(run) << text;
    EXPECT_EQ(run.error().where, "--price");
  }
  EXPECT_FALSE(training_run({.tokens = "", .price = "2"}, two_seconds()));
}

}  // namespace
}  // namespace sextant::app
