#include "metrics/summary.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "metrics/recording_testing.h"

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::Recording;
using timeline::SpanKind;

struct MadeRank {
  std::int64_t rank = 0;
  std::int64_t first_step = 0;
  std::vector<std::int64_t> works;  // length of each kernel; every third a collective
};

// Each step of `kStep` ns launches the works anew.
constexpr std::int64_t kStep = 10'000;

Recording made_of(const MadeRank& rank, std::int64_t steps) {
  MadeRecording made(RankId{rank.rank});
  const Label reduce = all_reduce_label(made.recording(), 1_MiB, 8);
  made.recording().ranks.push_back(
      {.rank = RankId{rank.rank}, .world = 8, .host = "", .device = {}});
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t from = step * kStep;
    made.step(rank.first_step + step, from, from + kStep);
    made.launch(from + 1, 1, from + 3, 10);
    made.call("cudaMalloc", from + 12, 6);
    std::int64_t at = from + 20;
    for (std::size_t i = 0; i < rank.works.size(); ++i) {
      const Label gemm{SpanKind::kCompute, "gemm_" + std::to_string(i % 4), {}, Flops(1e9)};
      made.launch(at, 2, at + 5, rank.works[i], MadeRecording::kMain, i % 3 == 2 ? reduce : gemm);
      at += rank.works[i] + 7;
    }
  }
  return made.take();
}

MadeRank any_rank(std::int64_t rank) {
  return {
      rank, *rc::gen::inRange<std::int64_t>(0, 100),
      *rc::gen::container<std::vector<std::int64_t>>(20, rc::gen::inRange<std::int64_t>(1, 90))};
}

StepRange range(const MadeRank& rank, std::int64_t from, std::int64_t to) {
  return {rank.first_step + from, rank.first_step + to};
}

RC_GTEST_PROP(Summary, MergingIsAssociativeAndOrderFree, ()) {
  std::vector<Summary> parts;
  for (int i = 0; i < 3; ++i) {
    const MadeRank rank = any_rank(*rc::gen::inRange<std::int64_t>(0, 3));
    parts.push_back(summarize(made_of(rank, 4)));
  }
  const Summary left = merge(merge(parts[0], parts[1]), parts[2]);
  const Summary right = merge(parts[0], merge(parts[1], parts[2]));
  const Summary turned = merge(merge(parts[2], parts[0]), parts[1]);
  RC_ASSERT(left == right);
  RC_ASSERT(left == turned);
  RC_ASSERT(merge(left, {}) == left);
  RC_ASSERT(merge({}, left) == left);
}

// Parts of one rank, step by step, are what the whole gives.
RC_GTEST_PROP(Summary, OfPartsIsThatOfTheWhole, ()) {
  const MadeRank rank = any_rank(0);
  const Recording recording = made_of(rank, 6);
  const auto cut = *rc::gen::inRange<std::int64_t>(0, 5);
  const Summary whole = summarize(recording, {.steps = range(rank, 0, 5)});
  Summary joined = merge(summarize(recording, {.steps = range(rank, cut + 1, 5)}),
                         summarize(recording, {.steps = range(rank, 0, cut)}));
  RC_ASSERT(joined.ranks.at(0).recorded == 2 * whole.ranks.at(0).recorded);
  joined.ranks[0].recorded = whole.ranks[0].recorded;
  RC_ASSERT(joined == whole);
}

TEST(Summary, OfRanksIsThatOfOneRecordingOfAll) {
  const MadeRank first{0, 0, {10, 20, 30}};
  const Summary joined =
      merge(summarize(made_of({1, 0, {5, 6, 7}}, 4)), summarize(made_of(first, 4)));
  ASSERT_EQ(joined.ranks.size(), 2U);
  EXPECT_EQ(joined.ranks[0], summarize(made_of(first, 4)).ranks[0]);
  EXPECT_EQ(joined.ranks[0].total().time.total_ns(), 2 * kStep);
}

TEST(Summary, WhatFindsNoPlaceIsInTheTotalsOfOthers) {
  MadeRecording made;
  made.step(0, 0, 1'000'000);
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < 1'000; ++i) {
    const std::string name = std::string(400, 'k') + std::to_string(i);
    made.launch(i * 500, 1, i * 500 + 2, 1 + i % 300, MadeRecording::kMain,
                {SpanKind::kCompute, name, {}, {}});
    total += 1 + i % 300;
  }
  const RankSummary rank = summarize(made.take()).ranks.at(0);
  EXPECT_EQ(rank.kernels.size(), kMostSummaryRows + 1);
  std::int64_t sum = 0;
  std::int64_t count = 0;
  for (const KernelRow& row : rank.kernels) {
    EXPECT_LE(row.name.size(), kMostSummaryName);
    sum += row.time.total_ns;
    count += row.time.count;
  }
  EXPECT_EQ(sum, total);
  EXPECT_EQ(count, 1'000);
}

TEST(Summary, StepsBeyondTheMostAreFoldedIntoTheTotal) {
  const Recording recording = made_of({0, 0, {10, 20}}, 300);
  const RankSummary rank = summarize(recording).ranks.at(0);
  EXPECT_EQ(rank.steps.size(), kMostSummarySteps);
  EXPECT_EQ(rank.folded.steps, 298 - 256);
  EXPECT_EQ(rank.total(), totals(measure(recording).at(0)) += RankTotals());
}

// Rank 1 comes 50 ns later to each all-reduce, and rank 0 waits for it. Defect 1 of the peers: who
// came late was looked for among kernels of NCCL's old names alone, and these are ncclDevKernel_*.
TEST(Summary, ACollectivesTransferIsTheShortestOfItsRanks) {
  Summary summary;
  for (const std::int64_t late : {0, 50}) {
    MadeRecording made(RankId{late / 50});
    const Label reduce = all_reduce_label(made.recording(), 1_MiB, 2);
    made.step(0, 0, 1'000);
    for (std::int64_t i = 0; i < 4; ++i) {
      made.launch(i * 200 + late, 1, i * 200 + 5 + late, 100 - late, MadeRecording::kMain, reduce);
    }
    summary = merge(std::move(summary), summarize(made.take()));
  }
  const std::vector<MatchedCollective> matches = matched_collectives(summary);
  ASSERT_EQ(matches.size(), 4U);
  for (const MatchedCollective& match : matches) {
    EXPECT_EQ(match.transfer_ns(), 50);
    EXPECT_EQ(match.seen.size(), 2U);
    EXPECT_EQ(match.op, CollectiveOp::kAllReduce);
  }
}

// In a group of four, the first send of one rank and the first of another are no one message.
TEST(Summary, MessagesWithoutEndsMeetOnlyInGroupsOfTwo) {
  for (const std::int64_t size : {2, 4}) {
    Summary summary;
    for (std::int64_t rank = 0; rank < 2; ++rank) {
      MadeRecording made(RankId{rank});
      Label send = all_reduce_label(made.recording(), 1_MiB, size);
      send.collective->op = CollectiveOp::kSendReceive;
      made.step(0, 0, 1'000);
      made.launch(10, 1, 20, 100, MadeRecording::kMain, send);
      summary = merge(std::move(summary), summarize(made.take()));
    }
    EXPECT_EQ(matched_collectives(summary).size(), size == 2 ? 1U : 0U);
  }
}

// Rank 1 hears from rank 0 and sends on to rank 2: its second message is rank 2's first.
TEST(Summary, MessagesAreToldByTheirEndsWhateverEachRankCounts) {
  const auto message = [](MadeRecording& made, std::int64_t from, std::int64_t to,
                          std::int64_t number, std::int64_t start_ns) {
    timeline::Timeline& timeline = made.recording().timeline;
    Label label = all_reduce_label(made.recording(), 1_MiB, 3);
    label.collective->op = CollectiveOp::kSendReceive;
    label.collective->sender = RankId{from};
    label.collective->receiver = RankId{to};
    const std::int64_t self = timeline.lanes().front().rank.value;
    timeline.add(timeline.lane(RankId{self}, {MadeRecording::kMain}),
                 {.label = timeline.label(label), .sequence = timeline::SequenceNumber{number}},
                 start_ns, 100);
  };
  Summary summary;
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    MadeRecording made(RankId{rank});
    made.step(0, 0, 1'000);
    made.work({SpanKind::kCompute, "gemm", {}, {}}, 10, 20);
    std::int64_t number = 0;
    for (std::int64_t from = std::max<std::int64_t>(0, rank - 1);
         from <= std::min<std::int64_t>(rank, 1); ++from) {
      message(made, from, from + 1, ++number, 100 + 200 * from);
    }
    summary = merge(std::move(summary), summarize(made.take()));
  }
  const std::vector<MatchedCollective> matches = matched_collectives(summary);
  ASSERT_EQ(matches.size(), 2U);
  EXPECT_EQ(matches[0].seen.front().rank.value + 1, matches[0].seen.back().rank.value);
  EXPECT_EQ(matches[1].seen.front().rank.value + 1, matches[1].seen.back().rank.value);
}

}  // namespace
}  // namespace sextant::metrics
