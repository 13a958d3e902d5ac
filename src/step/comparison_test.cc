#include "step/comparison.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::step {
namespace {

// 8 s of compute and what tensor parallelism exposes, 1000 tokens.
Estimate with_exposed(Seconds exposed) {
  Estimate result;
  result.step.compute = 8_s;
  result.step.exposed[Axis::kTensor] = exposed;
  result.step.step = 8_s + exposed;
  result.tokens = 1000.0;
  return result;
}

using Candidate = std::optional<Estimate>;  // nothing: cannot run

Comparison comparison(const std::vector<Candidate>& candidates) {
  std::vector<const Estimate*> running;
  running.reserve(candidates.size());
  for (const Candidate& candidate : candidates) {
    running.push_back(candidate ? &*candidate : nullptr);
  }
  return comparison_of(running);
}

// Nothing has an advantage: an Advantage of no term.
Advantage advantage(const std::vector<Candidate>& candidates) {
  return comparison(candidates).advantage.value_or(Advantage{});
}

TEST(Comparison, TheBestIsTheFastestThatRuns) {
  EXPECT_EQ(comparison({with_exposed(3_s), with_exposed(1_s), with_exposed(2_s)}).best, 1U);
  EXPECT_EQ(comparison({with_exposed(3_s), {}, with_exposed(2_s)}).best, 2U);
  EXPECT_EQ(comparison({{}, with_exposed(3_s), {}}).best, 1U);
  EXPECT_FALSE(comparison({{}, {}}).best);
  EXPECT_FALSE(comparison({}).best);
}

TEST(Comparison, OfEqualsTheFirstIsTheBest) {
  EXPECT_EQ(comparison({with_exposed(3_s), with_exposed(2_s), with_exposed(2_s)}).best, 1U);
}

TEST(Comparison, OneThatRunsAloneHasNoAdvantage) {
  EXPECT_FALSE(comparison({with_exposed(3_s), {}, {}}).advantage);
}

TEST(Comparison, TheTermThatShrankMostIsWhyItWins) {
  const Advantage why = advantage({with_exposed(3_s), with_exposed(1_s)});
  EXPECT_EQ(why.term.key, "tp");
  EXPECT_DOUBLE_EQ(why.shorter / 1_s, 2.0);
  EXPECT_DOUBLE_EQ(why.saved / 1_s, 2.0);
  EXPECT_DOUBLE_EQ(why.speed, 11.0 / 9.0);
}

TEST(Comparison, TheFirstThatRunsIsWhatTheBestIsComparedWith) {
  const Advantage why = advantage({{}, with_exposed(4_s), with_exposed(2_s), with_exposed(1_s)});
  EXPECT_EQ(why.best, 3U);
  EXPECT_EQ(why.other, 1U);
}

TEST(Comparison, WhereTheFirstWinsTheNextBestIsWhatItIsComparedWith) {
  const Advantage why = advantage({with_exposed(1_s), with_exposed(4_s), with_exposed(3_s)});
  EXPECT_EQ(why.best, 0U);
  EXPECT_EQ(why.other, 2U);
}

// Twice the tokens in twice the time is no slower.
TEST(Comparison, BatchesThatDifferCompareByToken) {
  Estimate twice = with_exposed(12_s);
  twice.tokens *= 2.0;
  EXPECT_NEAR(advantage({with_exposed(2_s), std::move(twice)}).saved / 1_s, 0.0, 1e-9);
}

}  // namespace
}  // namespace sextant::step
