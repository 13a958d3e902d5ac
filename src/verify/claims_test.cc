#include "verify/claims.h"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "verify/testing.h"

namespace sextant::verify {
namespace {

using step::Direction;

TEST(Claims, ADirectionIsTheSideOfTheInterval) {
  const step::RatioRange below{0.8, 0.95};
  EXPECT_EQ(ruling_of(claim_of(kStep, kLower), 0.87, below), ClaimRuling::kHolds);
  EXPECT_EQ(ruling_of(claim_of(kStep, kHigher), 0.87, below), ClaimRuling::kRefuted);
  EXPECT_EQ(ruling_of(claim_of(kStep, kSame), 0.87, below), ClaimRuling::kRefuted);
  const step::RatioRange around{0.9, 1.1};
  EXPECT_EQ(ruling_of(claim_of(kStep, kLower), 0.99, around), ClaimRuling::kCannotTell);
  EXPECT_EQ(ruling_of(claim_of(kStep, kHigher), 0.99, around), ClaimRuling::kCannotTell);
  EXPECT_EQ(ruling_of(claim_of(kStep, kSame), 0.99, around), ClaimRuling::kHolds);
  EXPECT_EQ(ruling_of(claim_of(kStep, kSame), 0.95, around), ClaimRuling::kCannotTell);
}

TEST(Claims, ASizeHoldsWhereItMeetsTheInterval) {
  const step::RatioRange interval{0.8, 0.95};
  EXPECT_EQ(ruling_of(sized_claim(kStep, kLower, 0.9, 0.99), 0.87, interval), ClaimRuling::kHolds);
  EXPECT_EQ(ruling_of(sized_claim(kStep, kLower, 0.96, 0.99), 0.87, interval),
            ClaimRuling::kWrongSize);
  EXPECT_EQ(ruling_of(sized_claim(kStep, kLower, 0.7, 0.79), 0.87, interval),
            ClaimRuling::kWrongSize);
  // The direction cannot be told, yet so much is out of the question.
  EXPECT_EQ(ruling_of(sized_claim(kStep, kLower, 0.5, 0.6), 0.99, {0.9, 1.1}),
            ClaimRuling::kRefuted);
}

// Slower by 13 %, within x1.00 to x1.28: 26 % is in the interval, and is twice as much.
TEST(Claims, TwiceAsSlowIsAWrongSizeInsideTheIntervalToo) {
  const step::RatioRange interval{1.001, 1.28};
  EXPECT_EQ(ruling_of(sized_claim(kStep, kHigher, 1.2, 1.27), 1.13, interval), ClaimRuling::kHolds);
  EXPECT_EQ(ruling_of(sized_claim(kStep, kHigher, 1.26, 1.27), 1.13, interval),
            ClaimRuling::kWrongSize);
}

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

TEST(Claims, WhatContradictsItselfIsRefuted) {
  for (const auto& [low, high] : {std::pair{1.0, 1.2}, {0.9, 0.8}, {-0.1, 0.9}, {0.5, kInfinite}}) {
    EXPECT_EQ(ruling_of(sized_claim(kStep, kLower, low, high), 0.87, {0.8, 0.95}),
              ClaimRuling::kRefuted);
  }
  EXPECT_EQ(ruling_of(sized_claim(kStep, kHigher, 0.8, 0.9), 1.2, {1.1, 1.3}),
            ClaimRuling::kRefuted);
  EXPECT_EQ(ruling_of(sized_claim(kStep, kLower, kNoNumber, 0.9), 0.87, {0.8, 0.95}),
            ClaimRuling::kRefuted);
}

// The law that claims.h states: where the direction is told, twice the effect is never accepted.
RC_GTEST_PROP(Claims, TwiceTheEffectNeverHolds, ()) {
  const double spread = 1.0 + *rc::gen::inRange(1, 500) / 1000.0;
  const double ratio = *rc::gen::inRange(1, 3000) / 1000.0;
  const step::RatioRange interval{ratio / spread, ratio * spread};
  const double twice = std::max(2.0 * ratio - 1.0, 0.0);
  const Claim claim = sized_claim(kStep, ratio < 1.0 ? kLower : kHigher, twice, twice);
  RC_ASSERT(ruling_of(claim, ratio, interval) != ClaimRuling::kHolds);
}

// Estimates whose terms are known: 8 s of compute, 1 s of tensor, 1 s of bubble.
step::Estimate estimate_of(double tensor, double bubble) {
  step::Estimate estimate;
  estimate.devices = 8;
  estimate.tokens = 1000.0;
  estimate.step.compute = 8_s;
  estimate.step.exposed[step::Axis::kTensor] = Seconds(tensor);
  estimate.step.bubble = Seconds(bubble);
  estimate.step.step = Seconds(8.0 + tensor + bubble);
  estimate.memory.fullest.device = 50_GiB;
  return estimate;
}

JudgedClaim judged_between(const Claim& claim, const step::Estimate& before,
                           const step::Estimate& after) {
  const double speed = before.step.step / after.step.step;
  return judged_claim(claim,
                      {before, after, true, true, {speed, speed / 1.1, speed * 1.1, "", {}}});
}

TEST(Claims, ATermIsKnownAsWellAsTheStep) {
  const step::Estimate before = estimate_of(1.0, 1.0);
  const step::Estimate after = estimate_of(0.5, 1.05);
  const auto tensor = step::Quantity::kTensorComm;
  const auto bubble = step::Quantity::kBubble;
  const JudgedClaim less = judged_between(claim_of(tensor, kLower), before, after);
  EXPECT_EQ(less.ruling, ClaimRuling::kHolds);
  EXPECT_DOUBLE_EQ(less.ratio, 0.5);
  EXPECT_NEAR(less.interval.high, 0.55, 1e-12);
  EXPECT_EQ(less.term, "tp −500 ms");
  EXPECT_EQ(judged_between(claim_of(tensor, kHigher), before, after).ruling, ClaimRuling::kRefuted);
  // A bubble of 1.05 s against 1 s is within the interval.
  EXPECT_EQ(judged_between(claim_of(bubble, kLower), before, after).ruling,
            ClaimRuling::kCannotTell);
  EXPECT_EQ(judged_between(sized_claim(tensor, kLower, 0.1, 0.2), before, after).ruling,
            ClaimRuling::kWrongSize);
}

TEST(Claims, WhatIsNotThereDoesNotMove) {
  const step::Estimate before = estimate_of(0.0, 0.002);
  const step::Estimate after = estimate_of(0.0, 0.001);
  // A thousandth of 8 s is 8 ms: neither the tensor's nothing nor the bubble's 2 ms is seen.
  for (const step::Quantity quantity : {step::Quantity::kTensorComm, step::Quantity::kBubble}) {
    EXPECT_EQ(judged_between(claim_of(quantity, kLower), before, after).ruling,
              ClaimRuling::kRefuted);
    EXPECT_EQ(judged_between(claim_of(quantity, kSame), before, after).ruling, ClaimRuling::kHolds);
  }
  // From nothing to something: higher, whatever the ratio.
  EXPECT_EQ(
      judged_between(claim_of(step::Quantity::kTensorComm, kHigher), before, estimate_of(1.0, 0.0))
          .ruling,
      ClaimRuling::kHolds);
}

TEST(Claims, MemoryIsArithmetic) {
  const step::Estimate before = estimate_of(1.0, 1.0);
  step::Estimate after = before;
  after.memory.fullest.device = 49_GiB;  // 2 % less
  const auto memory = step::Quantity::kMemory;
  EXPECT_EQ(judged_between(claim_of(memory, kLower), before, after).ruling, ClaimRuling::kHolds);
  EXPECT_EQ(judged_between(claim_of(memory, kHigher), before, after).ruling, ClaimRuling::kRefuted);
  EXPECT_EQ(judged_between(sized_claim(memory, kLower, 0.975, 0.985), before, after).ruling,
            ClaimRuling::kHolds);
  // Twice the effect is another size, although the model errs by more than the effect.
  EXPECT_EQ(judged_between(sized_claim(memory, kLower, 0.96, 0.96), before, after).ruling,
            ClaimRuling::kWrongSize);
  EXPECT_EQ(judged_between(claim_of(memory, kLower), before, before).ruling, ClaimRuling::kRefuted);
  EXPECT_EQ(judged_between(claim_of(memory, kSame), before, before).ruling, ClaimRuling::kHolds);
}

TEST(Claims, FitsIsKnownOfBothSides) {
  const step::Estimate estimate = estimate_of(1.0, 1.0);
  const auto fits = step::Quantity::kFits;
  const Sides mended{estimate, estimate, false, true, {}};
  EXPECT_EQ(judged_claim(claim_of(fits, kHigher), mended).ruling, ClaimRuling::kHolds);
  EXPECT_EQ(judged_claim(claim_of(fits, kSame), mended).ruling, ClaimRuling::kRefuted);
  const Sides fitting{estimate, estimate, true, true, {}};
  EXPECT_EQ(judged_claim(claim_of(fits, kHigher), fitting).ruling, ClaimRuling::kRefuted);
  EXPECT_EQ(judged_claim(claim_of(fits, kSame), fitting).ruling, ClaimRuling::kHolds);
}

TEST(Claims, TheTermThatMovedMostTheStepsWayIsNamed) {
  EXPECT_EQ(moved_most(estimate_of(1.0, 1.0), estimate_of(0.25, 1.5)), "exposed tp −750 ms");
  EXPECT_EQ(moved_most(estimate_of(1.0, 1.0), estimate_of(0.75, 2.5)), "bubble +1.5 s");
}

}  // namespace
}  // namespace sextant::verify
