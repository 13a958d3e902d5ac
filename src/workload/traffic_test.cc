#include "workload/traffic.h"

#include "describe/layout/pipeline_split.h"
#include "workload/ep_traffic.h"
#include "workload/traffic_testing.h"

namespace sextant::workload {
namespace {

using describe::CollectiveOp;
using describe::CpMethod;
using describe::Framework;
using describe::Job;
using describe::Overlap;
using describe::Recompute;
using describe::Zero;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

TEST(Traffic, NothingIsSentOnOneDevice) {
  EXPECT_TRUE(step_collectives(traffic_job(llama(4, 1024, 8), 1)).empty());
}

// The worked example of an analysis of Megatron's traffic: 32 layers, h = 4096, s = 2048, b = 4,
// B = 512, t = 2, p = 2, d = 4. Layers' all-reduces, summed over the 16 devices: 32,768 · 2
// directions … 16 devices · 16 layers · 4 · 32 microbatches = 32,768 calls of 64 MiB = 2,048 GiB.
TEST(Traffic, MegatronTensorParallelCallsMatchThePublishedExample) {
  Job job = traffic_job(llama(32, 4096, 32), 16);
  job.sequences.length = 2048;
  job.global_batch = 512;
  job.layout.tp = 2;
  job.layout.pp = 2;
  job.layout.mbs = 4;
  const Shard shard = shard_of(job);
  ASSERT_EQ(shard.dp, 4);
  ASSERT_EQ(shard.microbatches, 32);
  double calls_made = 0.0;
  Bytes carried;
  for (const Stage& stage : stages_of(job)) {
    for (const Collective& message : step_collectives(job, stage, shard)) {
      const bool layer =
          message.what.starts_with("attention") || message.what.starts_with("feed-forward");
      if (message.group == GroupKind::kTp && layer) {
        EXPECT_EQ(message.input_bytes, 64 * kMiB);
        calls_made += 8.0 * static_cast<double>(message.count);
        carried += 8.0 * message.payload_bytes();
      }
    }
  }
  EXPECT_EQ(calls_made, 32768.0);
  EXPECT_EQ(carried / 1_GiB, 2048.0);
}

// Forward: gather and scatter around attention and feed-forward. Backward: gather of the output's
// gradient, scatter of the input's, and the input once more for the weight gradient.
TEST(Traffic, SequenceParallelismGathersThreeTimesForEachTwoScatters) {
  Job job = traffic_job(llama(4, 1024, 8), 8);
  job.layout.tp = 4;
  job.layout.sp = true;
  job.global_batch = 6;  // 3 microbatches
  const auto list = step_collectives(job);
  for (const std::string_view part : {"attention", "feed-forward"}) {
    std::int64_t gathers = 0;
    std::int64_t scatters = 0;
    for (const Collective& message : list) {
      if (message.what.starts_with(part)) {
        (message.op == CollectiveOp::kAllGather ? gathers : scatters) += message.count;
        EXPECT_EQ(std::max(message.input_bytes, message.output_bytes), 8 * kMiB);
        EXPECT_EQ(std::min(message.input_bytes, message.output_bytes), 2 * kMiB);
      }
    }
    EXPECT_EQ(gathers, 3 * 4 * 3);   // three a layer and microbatch
    EXPECT_EQ(scatters, 2 * 4 * 3);  // two
  }
  // Norm weights, two a layer and the last: 9 · 1024 fp32 gradients in one tensor.
  const auto norms = chosen(list, {.phase = Phase::kGradient});
  ASSERT_EQ(norms.size(), 1U);
  EXPECT_EQ(norms[0].input_bytes, 9 * 1024 * 4);
}

TEST(Traffic, FullRecomputationRepeatsTheForwardMessages) {
  Job job = traffic_job(llama(4, 1024, 8), 4);
  job.layout.tp = 4;
  const std::int64_t before = calls(step_collectives(job), {});
  job.layout.recompute.granularity = Recompute::kFull;
  EXPECT_EQ(calls(step_collectives(job), {}) - before, 4 * 2 * 4);  // layers · 2 · microbatches
  job.layout.recompute.method = describe::RecomputeMethod::kBlock;
  job.layout.recompute.layers = 1;
  EXPECT_EQ(calls(step_collectives(job), {}) - before, 1 * 2 * 4);
  job.layout.recompute = {.granularity = Recompute::kSelective,
                          .modules = {describe::RecomputeModule::kCoreAttention}};
  EXPECT_EQ(calls(step_collectives(job), {}), before);
}

TEST(Traffic, VocabularyParallelLossReducesThreeNumbersAToken) {
  Job job = traffic_job(llama(1, 1024, 8), 2);
  job.layout.tp = 2;
  job.global_batch = 1;
  std::int64_t reductions = 0;
  for (const Collective& message : step_collectives(job)) {
    if (message.dtype == "float32" && message.phase == Phase::kForward) {
      EXPECT_EQ(message.input_bytes, 4096 * 4);
      reductions += message.count;
    }
  }
  EXPECT_EQ(reductions, 3);
}

TEST(Traffic, PipelineSendsActivationsOnAndGradientsBack) {
  Job job = traffic_job(llama(8, 1024, 8), 4);
  job.layout.pp = 4;
  job.global_batch = 8;
  const auto sends = chosen(step_collectives(job),
                            {.op = CollectiveOp::kSendReceive, .group = GroupKind::kPipeline});
  ASSERT_EQ(sends.size(), 6U);  // three boundaries, both ways
  for (const Collective& message : sends) {
    EXPECT_EQ(message.count, 8);
    EXPECT_EQ(message.input_bytes, 8 * kMiB);  // 4096 tokens · 1024 · 2
  }
  job.layout.vpp = 2;  // eight stages: seven boundaries, the last rank's to the first among them
  job.layout.schedule = describe::Schedule::kInterleaved1f1b;
  EXPECT_EQ(chosen(step_collectives(job),
                   {.op = CollectiveOp::kSendReceive, .group = GroupKind::kPipeline})
                .size(),
            14U);
  job.layout.schedule = describe::Schedule::kZbv;  // the turn stays on its rank
  EXPECT_EQ(chosen(step_collectives(job),
                   {.op = CollectiveOp::kSendReceive, .group = GroupKind::kPipeline})
                .size(),
            12U);
}

TEST(Traffic, PipelineSendsARanksOwnTokensUnderSequenceParallelism) {
  Job job = traffic_job(llama(8, 1024, 8), 4);
  job.layout.pp = 2;
  job.layout.tp = 2;
  job.layout.sp = true;
  job.global_batch = 2;
  for (const Collective& message : chosen(step_collectives(job), {.op = CollectiveOp::kSendReceive,
                                                                  .group = GroupKind::kPipeline})) {
    EXPECT_EQ(message.input_bytes, 4 * kMiB);
  }
}

// 2 layers of (4·h² attention + 3·3.5·h² feed-forward + 2·h) + embedding and head + final norm.
std::int64_t llama_parameters(std::int64_t layers, std::int64_t h) {
  return layers * (4 * h * h + 3 * h * (h / 2 * 7) + 2 * h) + 256'000 * h + h;
}

TEST(Traffic, PlainDataParallelismReducesEveryGradientOnce) {
  Job job = traffic_job(llama(2, 1024, 8), 8);
  job.global_batch = 32;
  const auto list = step_collectives(job);
  const auto sums = chosen(list, {.group = GroupKind::kDp, .what = "gradients"});
  ASSERT_EQ(sums.size(), 1U);
  EXPECT_EQ(sums[0].count, 1);
  EXPECT_EQ(sums[0].input_bytes, 4 * llama_parameters(2, 1024));
  EXPECT_EQ(sums[0].hides, Hides::kNothing);
}

TEST(Traffic, TheDistributedOptimizerScattersGradientsAndGathersParameters) {
  Job job = traffic_job(llama(2, 1024, 8), 24);
  job.layout.zero = Zero::kOptimizer;
  job.layout.overlap = {Overlap::kGradReduce, Overlap::kParamGather};
  const auto list = step_collectives(job);
  const auto scatters =
      chosen(list, {.op = CollectiveOp::kReduceScatter, .group = GroupKind::kShard});
  const auto gathers = chosen(list, {.op = CollectiveOp::kAllGather, .group = GroupKind::kShard});
  ASSERT_EQ(scatters.size(), 1U);
  ASSERT_EQ(gathers.size(), 1U);
  // 291 M parameters in buckets of at least 40 M: seven, each a multiple of lcm(24, 128) = 384.
  EXPECT_EQ(scatters[0].count, 7);
  const std::int64_t bucket = scatters[0].input_bytes / 4;
  EXPECT_EQ(bucket % 384, 0);
  EXPECT_GE(7 * bucket, llama_parameters(2, 1024));
  EXPECT_LT(7 * bucket, llama_parameters(2, 1024) + 3072);
  EXPECT_EQ(gathers[0].output_bytes, 2 * bucket);  // bf16
  EXPECT_EQ(scatters[0].hides, Hides::kNextLayers);
}

TEST(Traffic, EightBitParametersAreGatheredAsSuch) {
  Job job = traffic_job(llama(2, 1024, 8), 8);
  job.layout.zero = Zero::kOptimizer;
  job.layout.parameters = describe::Storage::kFp8;
  for (const Collective& message : chosen(
           step_collectives(job), {.op = CollectiveOp::kAllGather, .group = GroupKind::kShard})) {
    EXPECT_EQ(message.dtype, "float8");
  }
}

TEST(Traffic, DeepSpeedReducesWholeBucketsInEveryMicrobatchFromStageTwoOn) {
  Job job = traffic_job(llama(2, 1024, 8), 8);
  job.framework = Framework::kDeepspeed;
  job.global_batch = 40;  // five microbatches
  for (const auto& [zero, times] : {std::pair{Zero::kOptimizer, 1}, {Zero::kGradients, 5}}) {
    job.layout.zero = zero;
    const auto list = step_collectives(job);
    EXPECT_EQ(calls(list, {.group = GroupKind::kDp, .what = "gradients"}), times);
    EXPECT_EQ(calls(list, {.op = CollectiveOp::kAllGather, .group = GroupKind::kShard}), 1);
  }
}

TEST(Traffic, HybridShardingSumsShardsOverTheirReplicas) {
  Job job = traffic_job(llama(2, 1024, 8), 8);
  job.framework = Framework::kTorchtitan;
  job.layout.zero = Zero::kParameters;
  job.layout.zero_group = 4;
  const auto sums = chosen(step_collectives(job), {.group = GroupKind::kReplicate});
  const auto scatters = chosen(step_collectives(job),
                               {.op = CollectiveOp::kReduceScatter, .group = GroupKind::kShard});
  ASSERT_EQ(sums.size(), scatters.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(sums[i].input_bytes, scatters[i].output_bytes);
    EXPECT_EQ(sums[i].group_size, 2);
    EXPECT_EQ(scatters[i].group_size, 4);
  }
}

// Keys and values of 2048 own tokens, 4 kv heads of 128 on a rank: 2 MiB each.
TEST(Traffic, ContextParallelMethodsMoveKeysAndValues) {
  Job job = traffic_job(llama(1, 1024, 8), 4);
  job.layout.tp = 2;
  job.layout.cp = 2;
  job.global_batch = 1;
  auto list = step_collectives(job);
  const Asked ring{.op = CollectiveOp::kSendReceive, .group = GroupKind::kCp};
  EXPECT_EQ(calls(list, ring), 3);  // cp − 1 forward, twice as many backward
  EXPECT_EQ(payload(list, ring) / 1_MiB, 3.0 * 4.0);
  EXPECT_EQ(chosen(list, ring)[0].hides, Hides::kAttention);
  job.layout.cp_method = CpMethod::kAllGather;
  list = step_collectives(job);
  EXPECT_EQ(calls(list, {.op = CollectiveOp::kAllGather, .group = GroupKind::kCp}), 4);
  EXPECT_EQ(calls(list, {.op = CollectiveOp::kReduceScatter, .group = GroupKind::kCp}), 2);
  job.layout.cp_method = CpMethod::kAllToAll;
  list = step_collectives(job);
  EXPECT_EQ(calls(list, {.op = CollectiveOp::kAllToAll, .group = GroupKind::kCp}), 8);
  // Queries and outputs 2 MiB (4 heads), keys and values 2 MiB, both passes.
  EXPECT_EQ(payload(list, {.op = CollectiveOp::kAllToAll, .group = GroupKind::kCp}) / 1_MiB, 16.0);
}

Job moe_job(std::int64_t devices) {
  Job job = traffic_job(llama(2, 1024, 8), devices);
  job.model.blocks[0].ffn = describe::MoeFfn{.experts = 16, .topk = 2, .width = 512};
  job.layout.ep = 8;
  job.global_batch = devices;
  return job;
}

TEST(Traffic, ExpertsAskForFourAllToAllsALayer) {
  Job job = moe_job(8);
  const Asked tokens{.op = CollectiveOp::kAllToAll, .group = GroupKind::kEp};
  const auto big = [&](const Job& asked) {
    std::int64_t sum = 0;
    for (const Collective& message : chosen(step_collectives(asked), tokens)) {
      if (message.dtype == "bfloat16") {
        EXPECT_EQ(message.input_bytes, 2 * 4096 * 1024 * 2);  // topk · tokens · hidden · 2
        sum += message.count;
      }
    }
    return sum;
  };
  EXPECT_EQ(big(job), 2 * 4);
  job.layout.recompute.granularity = Recompute::kFull;
  EXPECT_EQ(big(job), 2 * 6);
  job.layout.recompute = {.granularity = Recompute::kSelective,
                          .modules = {describe::RecomputeModule::kMoe}};
  EXPECT_EQ(big(job), 2 * 6);
  // Counts of tokens: 16 experts as int64, gathered.
  EXPECT_EQ(
      chosen(step_collectives(job), {.op = CollectiveOp::kAllGather, .group = GroupKind::kTpEp})[0]
          .input_bytes,
      16 * 8);
}

TEST(Traffic, TheBusiestRankReceivesMore) {
  const Job job = moe_job(8);
  const auto even = step_collectives(job);
  const auto uneven = step_collectives(job, Routing{.hottest = 1.5, .shares = {}});
  const Asked out{
      .op = CollectiveOp::kAllToAll, .group = GroupKind::kEp, .what = "tokens to experts"};
  EXPECT_EQ(2 * chosen(uneven, out)[0].output_bytes, 3 * chosen(even, out)[0].output_bytes);
  EXPECT_EQ(chosen(uneven, out)[0].input_bytes, chosen(even, out)[0].input_bytes);
}

TEST(Traffic, ExpertsAreKeptInStepApart) {
  Job job = moe_job(16);
  job.layout.zero = Zero::kOptimizer;
  const auto list = step_collectives(job);
  const auto experts =
      chosen(list, {.op = CollectiveOp::kReduceScatter, .group = GroupKind::kExpertShard});
  ASSERT_EQ(experts.size(), 1U);
  EXPECT_EQ(experts[0].group_size, 2);  // 16 ranks, ep 8
  // Two experts a layer of 3 · 1024 · 512, two layers, fp32.
  EXPECT_EQ(experts[0].input_bytes, 4 * 2 * 2 * 3 * 1024 * 512);
}

// Every choice of 2 of 6 experts on 3 ranks: 3 of 15 pairs share a rank, so 2 − 3/15 ranks.
TEST(DestinationRanks, MatchEnumeration) {
  describe::MoeFfn moe{.experts = 6, .topk = 2, .width = 1};
  EXPECT_DOUBLE_EQ(destination_ranks(moe, 3), 2.0 - 3.0 / 15.0);
  EXPECT_DOUBLE_EQ(destination_ranks(moe, 1), 1.0);
  EXPECT_DOUBLE_EQ(destination_ranks(moe, 6), 2.0);
}

// DeepSeek-V3: 8 of 256 experts in 4 of 8 groups. On 64 ranks the groups hold 8 ranks each: 32
// ranks with 4 of 128 experts each: 32 · (1 − C(124,8)/C(128,8)) = 7.36. On 8 ranks 4 are reached
// at most, with 32 of 128 experts each: 4 · (1 − C(96,8)/C(128,8)) = 3.63.
TEST(DestinationRanks, GroupLimitedRoutingReachesFewer) {
  const describe::MoeFfn moe{.experts = 256, .topk = 8, .width = 1, .groups = 8, .topk_groups = 4};
  EXPECT_NEAR(destination_ranks(moe, 64), 7.36, 0.005);
  EXPECT_NEAR(destination_ranks(moe, 8), 3.63, 0.005);
}

TEST(Traffic, ATiedEmbeddingIsKeptInStepBetweenTheEnds) {
  Job job = traffic_job(llama(4, 1024, 8), 4);
  job.model.tied_head = true;
  job.layout.pp = 4;
  const auto sums = chosen(step_collectives(job), {.group = GroupKind::kEmbedding});
  ASSERT_EQ(sums.size(), 2U);  // on the first and on the last stage
  EXPECT_EQ(sums[0].stage, 0);
  EXPECT_EQ(sums[1].stage, 3);
  EXPECT_EQ(sums[0].input_bytes, 128'000 * 1024 * 4);
  job.layout.pp = 1;
  job.cluster.devices = 1;
  EXPECT_TRUE(step_collectives(job).empty());
}

TEST(Traffic, AdaptersAreAllThatLoraReduces) {
  Job job = traffic_job(llama(2, 1024, 8), 8);
  job.workload = describe::Workload::kLora;
  job.lora = describe::Lora{.rank = 16, .modules = {describe::LoraModule::kQkv}};
  const auto sums = chosen(step_collectives(job), {.group = GroupKind::kDp, .what = "gradients"});
  ASSERT_EQ(sums.size(), 1U);
  EXPECT_EQ(sums[0].input_bytes, 4 * 2 * 16 * (1024 + 3 * 1024));
}

TEST(Traffic, AForwardPassAloneSendsNothingBack) {
  Job job = traffic_job(llama(4, 1024, 8), 16);
  job.workload = describe::Workload::kForward;
  job.layout.tp = 2;
  job.layout.pp = 2;
  job.layout.zero = Zero::kParameters;
  for (const Framework framework : {Framework::kMegatronCore, Framework::kTorchtitan}) {
    job.framework = framework;
    for (const Collective& message : step_collectives(job)) {
      EXPECT_TRUE(message.phase == Phase::kForward || message.what == "loss") << message.what;
    }
  }
}

}  // namespace
}  // namespace sextant::workload
