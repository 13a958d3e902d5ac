#include "explain/step_result.h"

#include <gtest/gtest.h>

#include "explain/compare_view.h"

namespace sextant::explain {
namespace {

using step::Axis;

// A step whose terms are 6 + 1 + (2 tp, 0.5 dp) + 0.25 + 0.125 + 0.125 = 10 s.
step::Estimate ten_seconds() {
  step::Estimate result;
  result.step.compute = 6_s;
  result.step.host = 1_s;
  result.step.exposed[Axis::kTensor] = 2_s;
  result.step.exposed[Axis::kData] = 0.5_s;
  result.step.bubble = 0.25_s;
  result.step.update = 0.125_s;
  result.step.beside = 0.125_s;
  result.step.step = 10_s;
  result.step.stages.resize(1);
  result.step.stages[0].forward.compute = 1_s;
  result.step.stages[0].backward.compute = 2_s;
  result.stages = {{.index = 0,
                    .pipeline_rank = 0,
                    .first_layer = 0,
                    .layers = 4,
                    .blocks = {},
                    .embedding = true,
                    .head = true}};
  result.devices = 4;
  result.tokens = 1000.0;
  return result;
}

TEST(StepResult, TermsAddUpToTheStep) {
  Seconds sum;
  for (const step::StepTerm& term : step::step_terms(ten_seconds().step)) {
    sum += term.time;
  }
  EXPECT_DOUBLE_EQ(sum / 1_s, 10.0);
}

TEST(StepResult, CommunicationOverheadIsTheExposedShareOfTheStep) {
  EXPECT_DOUBLE_EQ(ten_seconds().overhead(), 0.25);
  EXPECT_EQ(overhead_text(ten_seconds()), "25.0 % of the step (tp 20.0 %, dp 5.0 %)");
  step::Estimate silent = ten_seconds();
  silent.step.exposed = {};
  EXPECT_EQ(overhead_text(silent), "none");
}

TEST(StepResult, SpeedIsTokensOverTheStep) {
  EXPECT_DOUBLE_EQ(ten_seconds().tokens_per_second().base(), 100.0);
  EXPECT_DOUBLE_EQ(ten_seconds().tokens_per_device().base(), 25.0);
}

TEST(StepResult, TheIntervalIsThatOfItsClass) {
  step::Estimate result = ten_seconds();
  EXPECT_EQ(result.low(), result.high());
  result.interval = {.name = "all", .low = 0.9, .high = 1.2, .rows = 10, .source = ""};
  EXPECT_DOUBLE_EQ(result.low() / 1_s, 9.0);
  EXPECT_DOUBLE_EQ(result.high() / 1_s, 12.0);
}

TEST(StepResult, TheSlowestRankIsNamedByItsStages) {
  EXPECT_EQ(slowest_stages(ten_seconds()), "stage 0 (layers 0-3, embedding, head)");
  EXPECT_DOUBLE_EQ(ten_seconds().slowest_microbatch() / 1_s, 3.0);
}

TEST(StepResult, MemorySaysWhatIsMissing) {
  step::StepMemory memory;
  memory.available = 80_GiB;
  memory.fullest.device = 60_GiB;
  EXPECT_EQ(memory_text(memory), "fits: pipeline rank 0 needs 60 GiB of 80 GiB");
  memory.fullest.device = 90_GiB;
  memory.fullest.least = 70_GiB;
  EXPECT_TRUE(memory.tight());
  memory.rejection = {.pipeline_rank = 0, .needed = 100_GiB, .available = 80_GiB};
  EXPECT_FALSE(memory.tight());
  EXPECT_EQ(memory_text(memory),
            "does not fit: pipeline rank 0 needs at least 100 GiB, the device has 80 GiB; 20 GiB "
            "missing");
}

step::Estimate with_exposed(Seconds exposed) {
  step::Estimate result = ten_seconds();
  result.step.step += exposed - result.step.exposed[Axis::kTensor];
  result.step.exposed[Axis::kTensor] = exposed;
  return result;
}

Candidate candidate(step::Estimate result) {
  return {.name = "", .layout = "", .cluster = "", .result = std::move(result), .reasons = {}};
}
Candidate candidate(Seconds exposed) {
  return candidate(with_exposed(exposed));
}
Candidate too_large(Seconds exposed) {
  step::Estimate result = with_exposed(exposed);
  result.memory.rejection = cost::MemoryRejection{};
  return candidate(std::move(result));
}
Candidate illegal() {
  return {.name = "", .layout = "", .cluster = "", .result = {}, .reasons = {"HEADS-TP"}};
}

CompareAnswer comparison(std::vector<Candidate> candidates) {
  CompareAnswer answer;
  answer.candidates = std::move(candidates);
  return answer;
}

// Nothing has an advantage: an Advantage of no term.
Advantage advantage(std::vector<Candidate> candidates) {
  return advantage_of(comparison(std::move(candidates))).value_or(Advantage{});
}

TEST(Comparison, TheBestIsTheFastestThatFits) {
  EXPECT_EQ(best_of(comparison({candidate(3_s), candidate(1_s), candidate(2_s)})), 1U);
  EXPECT_EQ(best_of(comparison({candidate(3_s), too_large(1_s), candidate(2_s)})), 2U);
  EXPECT_EQ(best_of(comparison({candidate(3_s), too_large(1_s), illegal()})), 0U);
  EXPECT_FALSE(best_of(comparison({illegal(), too_large(1_s)})));
}

TEST(Comparison, OneThatRunsAloneHasNoAdvantage) {
  EXPECT_FALSE(advantage_of(comparison({candidate(3_s), too_large(1_s), illegal()})));
}

TEST(Comparison, TheTermThatShrankMostIsWhyItWins) {
  const Advantage why = advantage({candidate(3_s), candidate(1_s)});
  EXPECT_EQ(why.term.key, "tp");
  EXPECT_DOUBLE_EQ(why.shorter / 1_s, 2.0);
  EXPECT_DOUBLE_EQ(why.saved / 1_s, 2.0);
  EXPECT_DOUBLE_EQ(why.speed, 11.0 / 9.0);
}

TEST(Comparison, WhereTheFirstWinsTheNextBestIsWhatItIsComparedWith) {
  const Advantage why = advantage({candidate(1_s), candidate(4_s), candidate(3_s)});
  EXPECT_EQ(why.best, 0U);
  EXPECT_EQ(why.other, 2U);
}

// Twice the tokens in twice the time is no slower.
TEST(Comparison, BatchesThatDifferCompareByToken) {
  step::Estimate twice = with_exposed(12_s);
  twice.tokens *= 2.0;
  EXPECT_NEAR(advantage({candidate(2_s), candidate(std::move(twice))}).saved / 1_s, 0.0, 1e-9);
}

}  // namespace
}  // namespace sextant::explain
