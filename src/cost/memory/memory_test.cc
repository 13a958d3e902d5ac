// Memory: limits first, then laws, then published points. The measured tables are checked in
// tests/memory_truth_test.cc.
#include "cost/memory/memory.h"

#include <cmath>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cost/memory/fit.h"
#include "cost/memory/in_flight.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/rules.h"
#include "describe/model/load_model.h"

namespace sextant::cost {
namespace {

using describe::Job;
using describe::Layout;

Layout layout_of(std::string_view text) {
  const auto reading = describe::parse_layout(text, describe::Framework::kMegatronCore);
  EXPECT_TRUE(reading) << (reading ? "" : to_text(reading.error()));
  return reading ? reading->layout : Layout{};
}

Job job_of(std::string_view model, std::int64_t devices, std::string_view layout) {
  Job job;
  job.model = *describe::load_model(model, describe::DataStore());
  job.cluster.devices = devices;
  job.cluster.device.generation = "hopper";
  job.cluster.device.memory_capacity.value = 80_GiB;
  for (auto& peak : job.cluster.device.peaks) {
    peak = describe::Sourced<FlopsPerSecond>{};
  }
  job.sequences.length = 4096;
  job.layout = layout_of(layout);
  job.global_batch = 1024;
  return job;
}

describe::MemoryFacts no_extras() {
  describe::MemoryFacts facts;
  facts.rounding.value = 1.0;
  facts.fragmentation.value = 1.0;
  facts.fragmentation_recomputed.value = 1.0;
  facts.certainty.value = 1.0;
  return facts;
}

RankMemory fullest_of(const Job& job) {
  EXPECT_TRUE(describe::check_rules(job).empty());
  MemoryModel model(job, no_extras());
  return model.fullest(job.layout);
}

TEST(InFlight, OneStageKeepsOneMicrobatch) {
  EXPECT_EQ(in_flight(layout_of("pp=1"), 8, 0), 1);
}

TEST(InFlight, OneForwardOneBackwardKeepsTheStagesAhead) {
  const Layout layout = layout_of("pp=4");
  EXPECT_EQ(in_flight(layout, 8, 0), 4);
  EXPECT_EQ(in_flight(layout, 8, 3), 1);
  EXPECT_EQ(in_flight(layout, 2, 0), 2);  // never more than there are
}

TEST(InFlight, GpipeKeepsAll) {
  EXPECT_EQ(in_flight(layout_of("pp=4,schedule=gpipe"), 9, 3), 9);
}

// Megatron, pp=4, vpp=2, rank 0: warm-up 2·3 + 1·4 = 10 forwards and one more: chunk 0 has run
// microbatches 0–3 and 4–6, chunk 1 0–3.
TEST(InFlight, InterleavingDealsTheWarmUpInGroups) {
  const Layout layout = layout_of("pp=4,vpp=2");
  EXPECT_EQ(in_flight(layout, 16, 0), 7);
  EXPECT_EQ(in_flight(layout, 16, 4), 4);
  EXPECT_EQ(in_flight(layout, 16, 3), 4);  // last rank: 4 + 1
  EXPECT_EQ(in_flight(layout, 16, 7), 1);
}

// DeepSeek-V3, arXiv:2412.19437, table 2: DualPipe keeps pp + 1 microbatches on every rank.
TEST(InFlight, DualPipeKeepsOneMoreThanTheStages) {
  const Layout layout = layout_of("pp=8,schedule=dualpipe");
  for (std::int64_t rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(in_flight(layout, 64, rank) + in_flight(layout, 64, 7 - rank), 9);
  }
}

// Llama-3.1-8B on one device: 8,030,261,248 parameters, 2 + 4 + 12 bytes each under mixed
// precision. The vocabulary of 128,256 is a multiple of 128, so nothing is padded.
TEST(Memory, StatesOfOneDeviceAreEighteenBytesAParameter) {
  const RankMemory memory = fullest_of(job_of("llama-3.1-8b", 1, "zero=0"));
  EXPECT_DOUBLE_EQ(memory.at(MemoryMoment::kIdle)[MemoryItem::kParameters].base(),
                   2.0 * 8'030'261'248);
  EXPECT_DOUBLE_EQ(memory.at(MemoryMoment::kIdle)[MemoryItem::kGradients].base(),
                   4.0 * 8'030'261'248);
  EXPECT_DOUBLE_EQ(memory.at(MemoryMoment::kIdle)[MemoryItem::kMaster].base(), 4.0 * 8'030'261'248);
  EXPECT_DOUBLE_EQ(memory.at(MemoryMoment::kIdle)[MemoryItem::kMoments].base(),
                   8.0 * 8'030'261'248);
}

TEST(Memory, ZeroLevelsShardOneThingAfterTheOther) {
  const auto items = [](std::string_view zero) {
    return fullest_of(job_of("llama-3.1-8b", 8, zero)).at(MemoryMoment::kIdle);
  };
  const MemoryItems none = items("zero=0");
  const MemoryItems one = items("zero=1");
  const MemoryItems two = items("zero=2");
  EXPECT_EQ(one[MemoryItem::kMoments], none[MemoryItem::kMoments] / 8.0);
  EXPECT_EQ(one[MemoryItem::kGradients], none[MemoryItem::kGradients]);
  EXPECT_EQ(two[MemoryItem::kGradients], none[MemoryItem::kGradients] / 8.0);
  EXPECT_EQ(two[MemoryItem::kParameters], none[MemoryItem::kParameters]);
}

// Korthikanti et al. 2022, arXiv:2205.05198: with tensor and sequence parallelism everything but
// full-length inputs is divided by t: activations of GPT-3 without recomputation fall by 8.
TEST(Memory, SequenceParallelismDividesActivations) {
  const Bytes whole =
      fullest_of(job_of("llama-3.1-70b", 64, "tp=1,sp=0,pp=8")).peak()[MemoryItem::kActivations];
  const Bytes split =
      fullest_of(job_of("llama-3.1-70b", 64, "tp=8,sp=1,pp=8")).peak()[MemoryItem::kActivations];
  EXPECT_NEAR(whole / split, 8.0, 0.01);
}

// Each repeats the last layer's block: what it keeps is what one more layer would keep.
TEST(Memory, AnMtpLayerKeepsWhatALayerKeeps) {
  const Job job = job_of("deepseek-v3", 8, "pp=1,ep=8,tp=1,mbs=1");
  const auto activations = [&](int mtp_layers, std::size_t fewer) {
    Job other = job;
    other.model.mtp_layers = mtp_layers;
    other.model.mtp_block = other.model.layers.back();
    other.model.layers.resize(job.model.layers.size() - fewer);
    return fullest_of(other).at(MemoryMoment::kLoss)[MemoryItem::kActivations];
  };
  const Bytes layer = activations(0, 0) - activations(0, 1);
  EXPECT_GT(layer, Bytes());
  EXPECT_NEAR((activations(1, 0) - activations(0, 0)) / layer, 1.0, 1e-9);
  EXPECT_NEAR((activations(2, 0) - activations(0, 0)) / layer, 2.0, 1e-9);
}

// One received and one to be sent: 4096 tokens of 8192 numbers of 2 bytes each, of which tp=8 with
// sequence parallelism sends an eighth.
TEST(Memory, APipelineHoldsTwoMessages) {
  const auto messages = [](std::string_view layout) {
    return fullest_of(job_of("llama-3.1-70b", 64, layout))
        .at(MemoryMoment::kForward)[MemoryItem::kMessages];
  };
  EXPECT_EQ(messages("tp=8,sp=1,pp=1"), Bytes());
  EXPECT_EQ(messages("tp=8,sp=0,pp=8"), Bytes(2.0 * 4096 * 8192 * 2));
  EXPECT_EQ(messages("tp=8,sp=1,pp=8"), Bytes(2.0 * 4096 * 8192 * 2 / 8));
}

TEST(Memory, ALayoutThatDoesNotFitSaysWhatIsMissingAndWhatHelps) {
  const Job job = job_of("llama-3.1-70b", 64, "tp=8,pp=1,mbs=4");
  const RankMemory memory = fullest_of(job);
  const auto rejection = memory_rejection(memory, 80_GiB);
  ASSERT_TRUE(rejection.has_value());
  const MemoryRejection no = rejection.value_or(MemoryRejection{});
  EXPECT_EQ(no.missing(), no.needed - 80_GiB);
  const std::vector<FittingChange> changes = fitting_changes(job, no_extras(), 0.0);
  ASSERT_FALSE(changes.empty());
  for (const FittingChange& change : changes) {
    EXPECT_LE(change.needed, 80_GiB) << change.change;
  }
}

// Tied embeddings keep torchtitan from pipelines, and Megatron not.
TEST(Memory, WhatWouldHelpIsWhatTheFrameworkRuns) {
  const auto changes = [](describe::Framework framework) {
    Job job = job_of("llama-3.2-1b", 8, "");
    job.framework = framework;
    job.layout = describe::parse_layout("mbs=2,zero=1", framework)->layout;
    job.sequences.length = 8192;
    job.cluster.device.memory_capacity.value = 45_GiB;
    std::set<std::string> words;
    for (const FittingChange& change : fitting_changes(job, no_extras(), 0.0)) {
      words.insert(change.change);
    }
    return words;
  };
  const auto megatron = changes(describe::Framework::kMegatronCore);
  const auto torchtitan = changes(describe::Framework::kTorchtitan);
  EXPECT_TRUE(megatron.contains("pp=2") && megatron.contains("tp=2"));
  EXPECT_TRUE(!torchtitan.contains("pp=2") && torchtitan.contains("tp=2"));
}

// What a rejection rests on, of a job of this framework.
Bytes least_of(describe::Framework framework, const describe::MemoryFacts& facts) {
  Job job = job_of("llama-3.1-8b", 8, "zero=1");
  job.framework = framework;
  return MemoryModel(job, facts).fullest(job.layout).least;
}

TEST(Memory, ACertaintyBelowOneIsTakenOffForFrameworksThatWereNotMeasured) {
  describe::MemoryFacts unsure = no_extras();
  unsure.certainty.value = 0.5;
  using describe::Framework;
  EXPECT_EQ(least_of(Framework::kFsdp1, unsure), least_of(Framework::kFsdp1, no_extras()) * 0.5);
  EXPECT_EQ(least_of(Framework::kMegatronCore, unsure),
            least_of(Framework::kMegatronCore, no_extras()));
}

TEST(Memory, MegatronDeepspeedIsJudgedWithItsFragmentation) {
  describe::MemoryFacts fragmented = no_extras();
  fragmented.fragmentation.value = 1.5;
  fragmented.fragmentation_recomputed.value = 1.5;
  using describe::Framework;
  EXPECT_EQ(least_of(Framework::kMegatronDeepspeed, fragmented),
            least_of(Framework::kMegatronDeepspeed, no_extras()) * 1.5);
  EXPECT_EQ(least_of(Framework::kMegatronCore, fragmented),
            least_of(Framework::kMegatronCore, no_extras()));
}

TEST(Memory, AModelOfTenToTheFifteenParametersDoesNotOverflow) {
  Job job = job_of("llama-3.1-405b", 1'048'576, "tp=8,pp=16,dp=8192,layers_per_stage=even,mbs=1");
  job.model.hidden = 1'000'000;
  job.model.layers.assign(128, 0);
  auto& attention = std::get<describe::Attention>(job.model.blocks[0].mixer);
  attention.heads = 8192;
  attention.kv_heads = 8192;
  std::get<describe::DenseFfn>(job.model.blocks[0].ffn).width = 4'000'000;
  job.global_batch = 131'072;
  const RankMemory memory = fullest_of(job);
  EXPECT_GT(memory.allocated, 1_TB);
  EXPECT_LT(memory.allocated.base(), 1e16);
}

// A legal layout of Llama-3.1-8B on 64 devices.
rc::Gen<Job> any_job() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::element(1, 2, 4, 8), rc::gen::element(1, 2, 4, 8),
                     rc::gen::element(1, 2), rc::gen::element(1, 2, 4),
                     rc::gen::element(0, 1, 2, 3),
                     rc::gen::element<std::string>("none", "selective:core_attn",
                                                   "selective:layernorm+mlp", "full")),
      [](const std::tuple<int, int, int, int, int, std::string>& at) {
        const auto& [tp, pp, cp, mbs, zero, recompute] = at;
        return job_of("llama-3.1-8b", 64,
                      "tp=" + std::to_string(tp) + ",pp=" + std::to_string(pp) +
                          ",cp=" + std::to_string(cp) + ",mbs=" + std::to_string(mbs) +
                          ",zero=" + std::to_string(zero) + ",recompute=" + recompute);
      });
}

// The rank with most parameters.
Bytes most_parameters(const Job& job) {
  MemoryModel model(job, no_extras());
  Bytes most;
  for (std::int64_t rank = 0; rank < job.layout.pp; ++rank) {
    most = std::max(most,
                    model.rank(job.layout, rank).at(MemoryMoment::kIdle)[MemoryItem::kParameters]);
  }
  return most;
}

// Twice the devices along one axis, everything else as it was.
RC_GTEST_PROP(MemoryLaws, ShardingNeverIncreasesWeights, ()) {
  const Job job = *any_job();
  RC_PRE(describe::check_rules(job).empty());
  const Bytes before = most_parameters(job);
  for (std::int64_t Layout::* axis : {&Layout::tp, &Layout::pp, &Layout::cp}) {
    Job split = job;
    split.cluster.devices *= 2;
    split.layout.*axis *= 2;
    if (describe::check_rules(split).empty()) {
      RC_ASSERT(most_parameters(split) <= before);
    }
  }
}

RC_GTEST_PROP(MemoryLaws, MoreRecomputationNeverIncreasesWhatIsKept, ()) {
  Job job = *any_job();
  RC_PRE(describe::check_rules(job).empty());
  const auto kept = [&job](std::string_view recompute) {
    job.layout.recompute = layout_of("recompute=" + std::string(recompute)).recompute;
    const MemoryItems items = fullest_of(job).after_forward;
    return items[MemoryItem::kActivations] + items[MemoryItem::kCheckpoints];
  };
  const Bytes none = kept("none");
  const Bytes some = kept("selective:layernorm");
  const Bytes more = kept("selective:layernorm+mlp");
  const Bytes most = kept("full");
  RC_ASSERT(some <= none);
  RC_ASSERT(more <= some);
  RC_ASSERT(most <= more);
}

RC_GTEST_PROP(MemoryLaws, ALargerMicrobatchNeverNeedsLess, ()) {
  Job job = *any_job();
  RC_PRE(describe::check_rules(job).empty());
  const Bytes small = fullest_of(job).allocated;
  job.layout.mbs *= 2;
  RC_PRE(describe::check_rules(job).empty());
  RC_ASSERT(fullest_of(job).allocated >= small);
}

RC_GTEST_PROP(MemoryLaws, TheFullestRankIsTheMostOfAllRanks, ()) {
  const Job job = *any_job();
  RC_PRE(describe::check_rules(job).empty());
  MemoryModel model(job, no_extras());
  Bytes most;
  for (std::int64_t rank = 0; rank < job.layout.pp; ++rank) {
    most = std::max(most, model.rank(job.layout, rank).allocated);
  }
  RC_ASSERT(model.fullest(job.layout).allocated == most);
}

RankMemory reserving(Bytes reserved, double spread) {
  RankMemory memory;
  memory.apart = 2_GiB;
  memory.device = reserved + memory.apart;
  memory.spread = spread;
  return memory;
}

TEST(FitOdds, AreEvenWhereReservedMemoryIsWhatThereIs) {
  EXPECT_DOUBLE_EQ(fit_odds(reserving(70_GiB, 0.05), 72_GiB), 0.5);
}

TEST(FitOdds, AreOfANormalLogarithm) {
  // One deviation below the room: Phi(1) = 0.841.
  EXPECT_NEAR(fit_odds(reserving(70_GiB * std::exp(-0.05), 0.05), 72_GiB), 0.8413, 1e-4);
  EXPECT_NEAR(fit_odds(reserving(70_GiB * std::exp(0.05), 0.05), 72_GiB), 0.1587, 1e-4);
}

TEST(FitOdds, AreCertainWithoutSpreadOrRoom) {
  EXPECT_EQ(fit_odds(reserving(70_GiB, 0.0), 72_GiB), 1.0);
  EXPECT_EQ(fit_odds(reserving(71_GiB, 0.0), 72_GiB), 0.0);
  EXPECT_EQ(fit_odds(reserving(70_GiB, 0.05), 1_GiB), 0.0);
}

TEST(FitOdds, ExpandableSegmentsLeaveNoHoles) {
  RankMemory memory = reserving(75_GiB, 0.05);
  memory.allocated = 70_GiB;
  memory.reserved = 75_GiB;
  describe::MemoryFacts facts;
  facts.expandable_fragmentation.value = 1.0;
  facts.expandable_spread.value = 0.01;
  facts.spread.value = 0.05;
  EXPECT_LT(fit_odds(memory, 74_GiB), 0.3);
  const RankMemory expandable = with_expandable_segments(memory, facts);
  EXPECT_DOUBLE_EQ(expandable.device / 1_GiB, 72.0);
  EXPECT_DOUBLE_EQ(expandable.reserved / 1_GiB, 70.0);
  EXPECT_GT(fit_odds(expandable, 74_GiB), 0.95);
  // Of tensors that were not measured the doubt stays.
  memory.spread = std::hypot(0.05, 0.1);
  EXPECT_NEAR(with_expandable_segments(memory, facts).spread, std::hypot(0.01, 0.1), 1e-12);
}

TEST(Margin, IsHeldAgainstWhatIsReserved) {
  const RankMemory memory = reserving(70_GiB, 0.05);
  EXPECT_FALSE(margin_rejection(memory, 72_GiB));
  ASSERT_TRUE(margin_rejection(memory, 71_GiB));
  EXPECT_DOUBLE_EQ(margin_rejection(memory, 71_GiB)->missing() / 1_GiB, 1.0);
}

}  // namespace
}  // namespace sextant::cost
