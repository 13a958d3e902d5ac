#include "step/quantity.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace sextant::step {
namespace {

// Every quantity is there, and of its own term.
TEST(Quantity, EachReadsItsOwnTerm) {
  Estimate estimate;
  estimate.devices = 8;
  estimate.tokens = 100.0;
  estimate.step.step = 10_s;
  estimate.step.compute = 4_s;
  estimate.step.host = 1_s;
  estimate.step.bubble = 2_s;
  estimate.step.update = 0.5_s;
  estimate.step.exposed[step::Axis::kTensor] = 0.1_s;
  estimate.step.exposed[step::Axis::kContext] = 0.2_s;
  estimate.step.exposed[step::Axis::kExpert] = 0.3_s;
  estimate.step.exposed[step::Axis::kPipeline] = 0.4_s;
  estimate.step.exposed[step::Axis::kData] = 0.5_s;
  estimate.memory.fullest.device = 3_GiB;
  const auto of = [&](Quantity quantity) { return value_of(quantity, estimate, true); };
  EXPECT_DOUBLE_EQ(of(Quantity::kStep), 10.0);
  EXPECT_DOUBLE_EQ(of(Quantity::kTokenTime), 0.8);  // 10 s · 8 devices / 100 tokens
  EXPECT_DOUBLE_EQ(of(Quantity::kMemory), (3_GiB).base());
  EXPECT_DOUBLE_EQ(of(Quantity::kFits), 1.0);
  EXPECT_DOUBLE_EQ(of(Quantity::kCommunication), 1.5);
  EXPECT_DOUBLE_EQ(of(Quantity::kTensorComm), 0.1);
  EXPECT_DOUBLE_EQ(of(Quantity::kContextComm), 0.2);
  EXPECT_DOUBLE_EQ(of(Quantity::kExpertComm), 0.3);
  EXPECT_DOUBLE_EQ(of(Quantity::kPipelineComm), 0.4);
  EXPECT_DOUBLE_EQ(of(Quantity::kDataComm), 0.5);
  EXPECT_DOUBLE_EQ(of(Quantity::kBubble), 2.0);
  EXPECT_DOUBLE_EQ(of(Quantity::kBubbleShare), 0.2);
  EXPECT_DOUBLE_EQ(of(Quantity::kCompute), 4.0);
  EXPECT_DOUBLE_EQ(of(Quantity::kHost), 1.0);
  EXPECT_DOUBLE_EQ(of(Quantity::kUpdate), 0.5);
}

TEST(Quantity, ADirectionIsToldBeyondTwoThousandths) {
  EXPECT_EQ(direction_of(1.0, 1.0), Direction::kSame);
  EXPECT_EQ(direction_of(1.0, 1.0019), Direction::kSame);
  EXPECT_EQ(direction_of(1.0, 1.0025), Direction::kHigher);
  EXPECT_EQ(direction_of(1.0, 0.9975), Direction::kLower);
  EXPECT_EQ(direction_of(0.0, 0.0), Direction::kSame);
  EXPECT_EQ(direction_of(0.0, 1.0), Direction::kHigher);
}

TEST(Quantity, TheOppositeOfTheOppositeIsItself) {
  for (const auto& [direction, word] : kDirectionWords) {
    EXPECT_EQ(opposite_of(opposite_of(direction)), direction) << word;
  }
  EXPECT_EQ(opposite_of(Direction::kLower), Direction::kHigher);
}

}  // namespace
}  // namespace sextant::step
