#include "diagnose/finding.h"

#include <gtest/gtest.h>

namespace sextant::diagnose {
namespace {

Finding finding_of(Seconds compute, Seconds idle) {
  Finding finding;
  finding.per_step = compute + idle;
  finding.parts = {compute, 0_s, 0_s, idle};
  return finding;
}

TEST(Finding, GainIsOfTheStepThatIsLeft) {
  EXPECT_DOUBLE_EQ(gain_ceiling(0_s, 2_s), 0.0);
  EXPECT_DOUBLE_EQ(gain_ceiling(1_s, 2_s), 1.0);  // half the time, twice as fast
}

TEST(Finding, MomentsThatTwoFindingsSpeakOfCountOnce) {
  const PartTimes step{6_s, 1_s, 0_s, 3_s};
  const std::vector<Finding> both{finding_of(0_s, 2_s), finding_of(1_s, 2.5_s)};
  // Of 4.5 s said to be lost in 3 s of idle time at most 3 can be won, and 1 of compute.
  EXPECT_DOUBLE_EQ(total_ceiling(both, step) / 1_s, 4.0);
}

// A rank that computes for 8 s of a step of 10 in which ranks compute for 3 on average.
TEST(Finding, OneRanksClaimIsNoSmallerForTheOthers) {
  const PartTimes step{3_s, 6_s, 0_s, 1_s};
  EXPECT_DOUBLE_EQ(total_ceiling(std::vector{finding_of(8_s, 0_s)}, step) / 1_s, 8.0);
  EXPECT_DOUBLE_EQ(
      total_ceiling(std::vector{finding_of(8_s, 0_s), finding_of(2_s, 0.5_s)}, step) / 1_s, 8.5);
  EXPECT_DOUBLE_EQ(
      total_ceiling(std::vector{finding_of(8_s, 0_s), finding_of(0_s, 7_s)}, step) / 1_s, 10.0);
}

TEST(Finding, WhatAnotherExplainsIsWorthNothingMore) {
  const PartTimes step{6_s, 1_s, 0_s, 3_s};
  std::vector<Finding> both{finding_of(0_s, 1_s), finding_of(2_s, 0_s)};
  both.back().explained_by = "input-bound";
  EXPECT_DOUBLE_EQ(total_ceiling(both, step) / 1_s, 1.0);
}

}  // namespace
}  // namespace sextant::diagnose
