#include "measured/pipeline_actions.h"

#include <gtest/gtest.h>

namespace sextant::measured {
namespace {

std::vector<PipelineSlot> slots(const std::vector<std::string>& texts) {
  std::vector<PipelineSlot> out;
  for (const std::string& text : texts) {
    auto slot = parse_pipeline_slot(text, "here");
    EXPECT_TRUE(slot) << text;
    out.push_back(slot ? *slot : PipelineSlot());
  }
  return out;
}

TEST(PipelineActions, SlotsAreIdleSingleOrOverlapped) {
  EXPECT_TRUE(slots({""})[0].empty());
  const PipelineSlot one = slots({"12W34"})[0];
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].work, PipelineWork::kWeightGradient);
  EXPECT_EQ(one[0].stage, 12);
  EXPECT_EQ(one[0].microbatch, 34);
  EXPECT_EQ(slots({"(2F3;1B1)OVERLAP_F_B"})[0].size(), 2U);
  EXPECT_EQ(slots({"0REDUCE_GRAD"})[0][0].work, PipelineWork::kReduceGradient);
}

TEST(PipelineActions, AnythingElseIsAnError) {
  for (const char* bad :
       {"F", "2", "2X3", "2F", "F3", "2F-1", "(2F3;1B1)", "(2F3", ";", "2FREDUCE"}) {
    EXPECT_FALSE(parse_pipeline_slot(bad, "here")) << bad;
  }
}

TEST(PipelineMakespan, OneStageIsTheSumOfItsWork) {
  const auto makespan = pipeline_makespan({slots({"0F0", "0B0", "0F1", "0B1"})}, "one", "here");
  ASSERT_TRUE(makespan);
  EXPECT_DOUBLE_EQ(*makespan, 6.0);  // two microbatches of F = 1 and B = 2
}

TEST(PipelineMakespan, TwoStagesPayTheBubble) {
  // GPipe with p = 2, m = 2: (m + p − 1) · (F + B) = 3 · 3.
  const auto makespan = pipeline_makespan(
      {slots({"0F0", "0F1", "0B0", "0B1", "0REDUCE_GRAD"}), slots({"1F0", "1F1", "1B0", "1B1"})},
      "gpipe", "here");
  ASSERT_TRUE(makespan);
  EXPECT_DOUBLE_EQ(*makespan, 9.0);
}

TEST(PipelineMakespan, AnOverlappedPairCostsTheLonger) {
  const auto makespan =
      pipeline_makespan({slots({"0F0", "(0F1;0B0)OVERLAP_F_B", "0B1"})}, "one", "here");
  ASSERT_TRUE(makespan);
  EXPECT_DOUBLE_EQ(*makespan, 5.0);  // 1 + max(1, 2) + 2
}

TEST(PipelineMakespan, RanksThatWaitForEverAreAnError) {
  const auto makespan = pipeline_makespan({slots({"0B0", "0F0"})}, "stuck", "here");
  ASSERT_FALSE(makespan);
  EXPECT_NE(makespan.error().what.find("stuck"), std::string::npos);
}

}  // namespace
}  // namespace sextant::measured
