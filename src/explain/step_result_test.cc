#include "explain/step_result.h"

#include <gtest/gtest.h>

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
  memory.odds = 0.93;
  EXPECT_EQ(memory_text(memory),
            "fits: pipeline rank 0 needs 60 GiB of 80 GiB, in 93 of 100 such cases");
  EXPECT_EQ(safer_text(memory), "");
  memory.fullest.device = 90_GiB;
  memory.fullest.least = 70_GiB;
  memory.odds = 0.7;
  memory.changes = {{"recompute=full", 40_GiB, 1.0, {}, 2_s}};
  EXPECT_TRUE(memory.tight());
  EXPECT_EQ(fit_text(memory),
            "tight: fits in 7 of 10 such cases; pipeline rank 0 needs 90 GiB with what the "
            "allocator reserves, 70 GiB without, of 80 GiB; safe with recompute=full (needs 40 "
            "GiB, step 2 s)");
  memory.rejection = {.pipeline_rank = 0, .needed = 100_GiB, .available = 80_GiB};
  EXPECT_FALSE(memory.tight());
  EXPECT_EQ(memory_text(memory),
            "does not fit: pipeline rank 0 needs at least 100 GiB, the device has 80 GiB; 20 GiB "
            "missing");
}

}  // namespace
}  // namespace sextant::explain
