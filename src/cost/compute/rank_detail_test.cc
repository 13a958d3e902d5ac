#include "cost/compute/rank_detail.h"

#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/rules.h"
#include "describe/model/load_model.h"

namespace sextant::cost {
namespace {

using describe::Framework;
using describe::Job;

struct Asked {
  Framework framework = Framework::kMegatronCore;
  const char* model = "llama-3.1-8b";
  const char* cluster = "8xh200-sxm";
  const char* layout = "";
  std::int64_t batch = 32;
};

class RankDetails : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto facts = describe::host_facts(data_);
    ASSERT_TRUE(facts);
    host_ = *facts;
  }

  [[nodiscard]] Job job(const Asked& asked) const {
    Job made;
    made.framework = asked.framework;
    made.model = *describe::load_model(asked.model, data_);
    made.cluster = *describe::load_cluster(asked.cluster, data_);
    made.layout = describe::parse_layout(asked.layout, asked.framework)->layout;
    made.sequences.length = 4096;
    made.global_batch = asked.batch;
    EXPECT_TRUE(describe::check_rules(made).empty()) << asked.layout;
    return made;
  }

  [[nodiscard]] RankDetail slowest(const Job& of) const {
    const DeviceModel device =
        *device_model(data_, of.cluster.device, describe::AttentionKernel::kCudnn);
    return slowest_rank(of, {.device = device, .host = host_});
  }

  describe::DataStore data_;
  describe::HostFacts host_;
};

// Two ways to the same time: rank_time adds up as it goes, the detail keeps every operator.
TEST_F(RankDetails, OperatorsAddUpToTheTimeOfTheirPhase) {
  for (const Asked& asked :
       {Asked{.layout = "tp=2,mbs=2"}, Asked{.layout = "tp=2,pp=2,vpp=2,recompute=full"},
        Asked{.layout = "precision=fp8,recompute=selective"}, Asked{.layout = "optimizer=muon"},
        Asked{.layout = "pp=4,schedule=dualpipe", .batch = 64},
        Asked{.framework = Framework::kTorchtitan, .layout = "tp=2"},
        Asked{.framework = Framework::kTorchtitan, .layout = "compile=1"},
        Asked{.framework = Framework::kAccelerate, .layout = "zero=0,parameters=fp32"},
        Asked{.model = "mixtral-8x7b", .layout = "ep=8"},
        Asked{.model = "nemotron-h-8b", .layout = "tp=4"}}) {
    const RankDetail rank = slowest(job(asked));
    for (const auto& [phase, word] : kStepPhaseWords) {
      Seconds sum = phase == StepPhase::kForward ? rank.time.first_gather : Seconds();
      sum += phase != StepPhase::kUpdate ? rank.time.expert_wait : Seconds();
      double kernels = 0.0;
      for (const OperatorTime& one : rank.operators[static_cast<std::size_t>(phase)]) {
        sum += one.total();
        kernels += one.op.kernels * one.times;
      }
      EXPECT_NEAR(sum / rank.phase(phase).device, 1.0, 1e-9) << asked.layout << " " << word;
      EXPECT_NEAR(kernels, rank.phase(phase).kernels, 1e-6) << asked.layout << " " << word;
    }
    const TimeParts parts = time_parts(rank);
    EXPECT_NEAR(
        (parts.products + parts.attention + parts.streams + parts.launches + parts.waiting) /
            rank.step,
        1.0, 1e-9)
        << asked.layout;
  }
}

TEST_F(RankDetails, ExpertsAreWaitedForOneByOne) {
  // 32 layers of one expert a rank.
  const RankDetail rank = slowest(job({.model = "mixtral-8x7b", .layout = "ep=8"}));
  EXPECT_NEAR(rank.time.expert_wait / host_.expert.value, 32.0, 1e-9);
  EXPECT_EQ(slowest(job({.layout = "tp=2"})).time.expert_wait, Seconds());
}

// 6 FLOPs a parameter and token for the products, and attention: 8.03e9 − 0.53e9 of the embedding
// that is looked up, times 6 · 4096, is 184.5 TFLOP; causal attention adds 32 layers of 3 · 2 ·
// 4096 · 4096 · 4096 = 13.2 TFLOP.
TEST_F(RankDetails, ModelFlopsAreThoseOfTheModel) {
  const Job one = job({.cluster = "1xh200-sxm", .batch = 1});
  const RankDetail rank = slowest(one);
  EXPECT_NEAR(rank.model_flops / 1_TFLOP, 184.5 + 13.2, 1.0);
  const Utilisation use = utilisation(rank, one);
  EXPECT_EQ(use.format, describe::DType::kBf16);
  EXPECT_NEAR(use.model, rank.model_flops / rank.step / 989.4_TFLOPps, 1e-12);
  EXPECT_LE(use.model, use.hardware);
  EXPECT_LT(use.hardware, 1.0);
}

TEST_F(RankDetails, RecomputationIsHardwareWorkAndNotTheModels) {
  const RankDetail plain = slowest(job({.layout = "tp=2"}));
  const RankDetail again = slowest(job({.layout = "tp=2,recompute=full"}));
  EXPECT_DOUBLE_EQ(again.model_flops.base(), plain.model_flops.base());
  EXPECT_GT(again.hardware_flops, plain.hardware_flops * 1.25);
  EXPECT_GT(again.step, plain.step);
}

// The head is on the last stage of an even pipeline, and nothing else differs so much.
TEST_F(RankDetails, TheSlowestRankHoldsTheHead) {
  const RankDetail rank = slowest(job({.layout = "pp=4,mbs=2"}));
  EXPECT_EQ(rank.pipeline_rank, 3);
  EXPECT_EQ(rank.stages, std::vector<std::int64_t>{3});
  EXPECT_EQ(rank.microbatches, 8);
}

TEST_F(RankDetails, ARankThatHoldsTwoStagesRunsBoth) {
  const RankDetail rank = slowest(job({.layout = "pp=2,vpp=2"}));
  ASSERT_EQ(rank.stages.size(), 2U);
  EXPECT_EQ(rank.stages[1] - rank.stages[0], 2);
}

// Under DualPipe ranks 0 and 3 run the first and the last stage, half of the microbatches each.
TEST_F(RankDetails, DualPipeSharesTheEndsOfTheModel) {
  const Job of = job({.layout = "pp=4,schedule=dualpipe", .batch = 64});
  const DeviceModel device =
      *device_model(data_, of.cluster.device, describe::AttentionKernel::kCudnn);
  const RankSetting setting{.device = device, .host = host_};
  EXPECT_NEAR(rank_detail(of, 0, setting).step / rank_detail(of, 3, setting).step, 1.0, 1e-12);
}

RankDetail phases(const PhaseTime& forward, const PhaseTime& backward, std::int64_t microbatches) {
  RankDetail rank;
  rank.time = {.forward = forward, .backward = backward, .update = {}};
  rank.microbatches = microbatches;
  rank.step = step_time(rank.time, microbatches);
  return rank;
}

// A forward that the host is slow to issue: 5 + 20 ms alone. Of many microbatches the host issues
// the next forward while the device is in a backward, and only the first 3 ms are lost.
TEST(StepBound, TheHostBindsWhereTheDeviceWaitsForIt) {
  const PhaseTime forward{.device = 2_ms, .host = 5_ms};
  const PhaseTime backward{.device = 20_ms, .host = 1_ms};
  EXPECT_EQ(bound_of(forward), Bound::kHost);
  EXPECT_EQ(bound_of(backward), Bound::kDevice);
  EXPECT_EQ(bound_of(phases(forward, backward, 1)), Bound::kBoth);
  EXPECT_EQ(bound_of(phases(forward, backward, 100)), Bound::kDevice);
  EXPECT_NEAR(host_wait(phases(forward, backward, 100)) / 1_ms, 3.0, 1e-9);
  EXPECT_EQ(bound_of(phases(forward, {.device = 1_ms, .host = 1_ms}, 4)), Bound::kHost);
}

TEST(LongStepTime, IsTheStepTimeAndStaysLinearBeyond) {
  const RankTime time{.forward = {.device = 2_ms, .host = 5_ms},
                      .backward = {.device = 4_ms, .host = 3_ms},
                      .update = {.device = 1_ms, .host = 1_ms}};
  EXPECT_EQ(long_step_time(time, 7), step_time(time, 7));
  EXPECT_NEAR(long_step_time(time, 10'000) / step_time(time, 10'000), 1.0, 1e-9);
  EXPECT_GT(long_step_time(time, 1'000'000'000), 7e6_s);
}

}  // namespace
}  // namespace sextant::cost
