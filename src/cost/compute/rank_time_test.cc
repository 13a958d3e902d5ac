#include "cost/compute/rank_time.h"

#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"
#include "describe/model/load_model.h"

namespace sextant::cost {
namespace {

using describe::Job;

class RankTimes : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto model = describe::load_model("llama-3.2-1b", data_);
    const auto cluster = describe::load_cluster("1xh200-sxm", data_);
    const auto facts = describe::host_facts(data_);
    ASSERT_TRUE(model && cluster && facts);
    job_.model = *model;
    job_.cluster = *cluster;
    job_.framework = describe::Framework::kAccelerate;
    job_.sequences.length = 2048;
    job_.global_batch = 1;
    host_ = *facts;
    const auto device = device_model(data_, job_.cluster.device, describe::AttentionKernel::kCudnn);
    ASSERT_TRUE(device);
    device_ = *device;
  }

  [[nodiscard]] RankTime time(const Job& job, UpdateLoop update = UpdateLoop::kFused) const {
    return rank_time(job, job.layout, workload::stages_of(job).front(), workload::shard_of(job),
                     {.device = device_, .host = host_, .update = update});
  }

  describe::DataStore data_;
  Job job_;
  describe::HostFacts host_;
  DeviceModel device_;
};

TEST(RankClock, TheSlowerOfHostAndDeviceDecides) {
  RankClock bound_by_host;
  bound_by_host.run({.device = 2_ms, .host = 5_ms});
  EXPECT_DOUBLE_EQ(bound_by_host.now() / 1_ms, 5.0);
  RankClock bound_by_device;
  bound_by_device.run({.device = 5_ms, .host = 2_ms});
  EXPECT_DOUBLE_EQ(bound_by_device.now() / 1_ms, 5.0);
}

// What is issued last runs when the host is done.
TEST(RankClock, TheTailOfAPhaseFollowsItsHost) {
  RankClock clock;
  clock.run({.device = 4_ms, .host = 5_ms, .tail = 3_ms});
  EXPECT_DOUBLE_EQ(clock.now() / 1_ms, 8.0);
}

// The host has 3 ms in hand when the second phase begins: 2 + 4 issued while the device does 5 + 3.
TEST(RankClock, WhatTheHostGainedInOnePhaseItSpendsInTheNext) {
  RankClock clock;
  clock.run({.device = 5_ms, .host = 2_ms});
  clock.run({.device = 3_ms, .host = 4_ms});
  EXPECT_DOUBLE_EQ(clock.now() / 1_ms, 8.0);
  clock.synchronise();
  clock.run({.device = 1_ms, .host = 2_ms});
  EXPECT_DOUBLE_EQ(clock.now() / 1_ms, 10.0);
}

TEST_F(RankTimes, ASmallStepIsBoundByItsHostAndALargeOneByItsDevice) {
  job_.sequences.length = 128;
  const RankTime small = time(job_);
  EXPECT_LT(small.forward.device, small.forward.host);
  job_.sequences.length = 4096;
  job_.layout.mbs = job_.global_batch = 8;
  const RankTime large = time(job_);
  EXPECT_GT(large.forward.device, large.forward.host);
  // The host does not see sizes.
  EXPECT_DOUBLE_EQ(large.forward.host.base(), small.forward.host.base());
  EXPECT_DOUBLE_EQ(large.backward.host.base(), small.backward.host.base());
}

TEST_F(RankTimes, CompiledCodeLaunchesLessAndGraphsNearlyNothing) {
  const RankTime eager = time(job_);
  job_.layout.launch = describe::Launch::kCompiled;
  const RankTime compiled = time(job_);
  EXPECT_LT(compiled.forward.kernels, eager.forward.kernels / 2.0);
  EXPECT_LT(compiled.forward.host, eager.forward.host / 4.0);
  job_.layout.launch = describe::Launch::kCudaGraph;
  EXPECT_LT(time(job_).forward.host, 1_ms);
}

TEST_F(RankTimes, RecomputationRunsTheForwardAgainInTheBackward) {
  const RankTime plain = time(job_);
  job_.layout.recompute.granularity = describe::Recompute::kFull;
  const RankTime again = time(job_);
  EXPECT_DOUBLE_EQ(again.forward.kernels, plain.forward.kernels);
  EXPECT_GT(again.backward.device, plain.backward.device);
  EXPECT_GT(again.backward.host, plain.backward.host);
  EXPECT_LT(again.backward.kernels, plain.backward.kernels + plain.forward.kernels);
}

TEST_F(RankTimes, OptimizersOneTensorAtATimeTakeTheHostLongest) {
  const Seconds fused = time(job_, UpdateLoop::kFused).update.host;
  const Seconds foreach = time(job_, UpdateLoop::kForeach).update.host;
  const Seconds loop = time(job_, UpdateLoop::kLoop).update.host;
  EXPECT_LT(fused, foreach);
  EXPECT_LT(foreach, loop);
  // 16 layers of nine tensors, embedding and final norm; the head is tied.
  EXPECT_NEAR(fused / host_.fused_tensor.value, 16.0 * 9.0 + 2.0, 1e-9);
}

// More work on the same device is never faster.
TEST_F(RankTimes, MoreTokensNeverTakeLess) {
  Seconds last;
  for (std::int64_t mbs = 1; mbs <= 32; mbs *= 2) {
    job_.layout.mbs = job_.global_batch = mbs;
    const RankTime now = time(job_);
    const Seconds step = step_time(now, 1);
    EXPECT_GE(step, last) << mbs;
    last = step;
  }
}

// Products between streams stay below the power limit: faster than back to back, never than burst.
TEST_F(RankTimes, ProductsInAStepRunBetweenBurstAndSustainedRates) {
  job_.layout.mbs = job_.global_batch = 16;
  const auto stage = workload::stages_of(job_).front();
  const auto shard = workload::shard_of(job_);
  DeviceModel burst = device_;
  burst.duty = {.least = 0.0, .slope = 0.0};
  DeviceModel limited = device_;
  limited.duty = {.least = 1.0, .slope = 0.0};
  const auto forward = [&](const DeviceModel& device) {
    return rank_time(job_, job_.layout, stage, shard, {.device = device, .host = host_})
        .forward.device;
  };
  EXPECT_LT(forward(burst), forward(device_));
  EXPECT_LT(forward(device_), forward(limited));
}

}  // namespace
}  // namespace sextant::cost
