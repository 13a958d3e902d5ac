#include "workload/zero3_traffic.h"

#include <utility>
#include <vector>

#include "describe/model/parameters.h"
#include "workload/traffic.h"
#include "workload/traffic_testing.h"

namespace sextant::workload {
namespace {

using describe::CollectiveOp;
using describe::Framework;
using describe::Job;
using describe::Zero;

constexpr std::int64_t kMillion = 1'000'000;

struct Parameters {
  std::int64_t elements = 0;
  std::int64_t count = 0;
};

// Shards of one element in ten.
std::vector<std::pair<std::int64_t, std::int64_t>> buckets(FsdpWhen when,
                                                           const std::vector<Parameters>& list) {
  Zero3Buckets to(when);
  std::vector<std::pair<std::int64_t, std::int64_t>> sent;
  const auto see = [&sent](const Zero3Message& message) {
    sent.emplace_back(message.shard * 10 / kMillion, message.times);
  };
  for (const Parameters& one : list) {
    to.add(one.elements * kMillion, one.elements * kMillion / 10, one.count, see);
  }
  to.flush(see);
  return sent;
}

using Sent = std::vector<std::pair<std::int64_t, std::int64_t>>;

TEST(Zero3Traffic, NothingIsFetchedWhereNothingIs) {
  EXPECT_EQ(buckets(FsdpWhen::kForward, {}), Sent{});
}

TEST(Zero3Traffic, FetchesGoOnUntilTheyHoldFiftyMillion) {
  EXPECT_EQ(buckets(FsdpWhen::kForward, {{600, 1}}), (Sent{{600, 1}}));
  EXPECT_EQ(buckets(FsdpWhen::kForward, {{50, 3}}), (Sent{{50, 3}}));
  EXPECT_EQ(buckets(FsdpWhen::kForward, {{20, 7}}), (Sent{{60, 2}, {20, 1}}));
  EXPECT_EQ(buckets(FsdpWhen::kForward, {{20, 2}, {600, 1}, {10, 1}}), (Sent{{640, 1}, {10, 1}}));
}

TEST(Zero3Traffic, ABufferOfGradientsIsSentBeforeItRunsOver) {
  EXPECT_EQ(buckets(FsdpWhen::kReduce, {{600, 2}}), (Sent{{600, 2}}));
  EXPECT_EQ(buckets(FsdpWhen::kReduce, {{150, 4}, {600, 2}}), (Sent{{450, 1}, {150, 1}, {600, 2}}));
  EXPECT_EQ(buckets(FsdpWhen::kReduce, {{200, 2}, {100, 1}, {1, 1}}), (Sent{{500, 1}, {1, 1}}));
}

Job gpt(std::int64_t devices) {
  Job job = traffic_job(llama(4, 12288, 96), devices);
  job.framework = Framework::kDeepspeed;
  job.layout.zero = Zero::kParameters;
  job.layout.precision = describe::Precision::kFp16;
  return job;
}

// Seven matrices a layer: four of 151 million elements, three wider; embedding and head.
TEST(Zero3Traffic, LargeMatricesAreFetchedOneByOneTwiceInAMicrobatch) {
  const Job job = gpt(16);
  const auto list = step_collectives(job);
  const std::int64_t microbatches = shard_of(job).microbatches;
  EXPECT_EQ(calls(list, {.op = CollectiveOp::kAllGather, .group = GroupKind::kShard}),
            2 * microbatches * (4 * 7 + 2));
}

// Norms, two a layer and the last, stay on every rank.
TEST(Zero3Traffic, WhatIsFetchedIsAllButWhatStays) {
  Job job = gpt(16);
  const auto list = step_collectives(job);
  const auto microbatches = static_cast<double>(shard_of(job).microbatches);
  const auto all = static_cast<double>(describe::model_parameters(job.model).total());
  const double kept = 9.0 * 12288.0;
  const Asked gathers{.op = CollectiveOp::kAllGather, .group = GroupKind::kShard};
  EXPECT_EQ(payload(list, gathers) / Bytes(1.0), 2.0 * 2.0 * microbatches * (all - kept));
  const Asked scatters{.op = CollectiveOp::kReduceScatter, .group = GroupKind::kShard};
  EXPECT_EQ(payload(list, scatters) / Bytes(1.0), 2.0 * microbatches * all);
}

TEST(Zero3Traffic, GradientsTravelInTheFormatOfTheProducts) {
  Job job = gpt(16);
  job.layout.gradients = describe::Storage::kFp32;
  for (const Collective& message :
       chosen(step_collectives(job),
              {.op = CollectiveOp::kReduceScatter, .group = GroupKind::kShard})) {
    EXPECT_EQ(message.dtype, "float16");
  }
}

// Layers smaller than a bucket are fetched whole; embedding and head are larger than one.
TEST(Zero3Traffic, SmallLayersAreFetchedAtOnce) {
  Job job = traffic_job(llama(3, 1024, 8), 8);
  job.framework = Framework::kDeepspeed;
  job.layout.zero = Zero::kParameters;
  const auto list = step_collectives(job);
  const std::int64_t microbatches = shard_of(job).microbatches;
  EXPECT_EQ(calls(list, {.op = CollectiveOp::kAllGather, .group = GroupKind::kShard}),
            2 * microbatches * (3 + 2));
  EXPECT_EQ(calls(list, {.op = CollectiveOp::kReduceScatter, .group = GroupKind::kShard}),
            microbatches * (3 + 1));
}

// Frozen matrices are fetched, only adapters are reduced.
TEST(Zero3Traffic, AdaptersAreReducedLayerByLayer) {
  Job job = gpt(16);
  job.workload = describe::Workload::kLora;
  job.lora = describe::Lora{};
  const auto list = step_collectives(job);
  EXPECT_EQ(calls(list, {.op = CollectiveOp::kReduceScatter, .group = GroupKind::kShard}),
            4 * shard_of(job).microbatches);
}

}  // namespace
}  // namespace sextant::workload
