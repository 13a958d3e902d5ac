#include "timeline/timeline.h"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::timeline {
namespace {

const Label kGemm{SpanKind::kCompute, "gemm", std::nullopt, Flops(2e9)};
const Label kReduce{SpanKind::kCommunication, "all_reduce", 64_MiB, std::nullopt};

TEST(Timeline, EmptyHasNoExtent) {
  const Timeline timeline;
  EXPECT_EQ(timeline.extent(), Seconds());
  EXPECT_TRUE(timeline.spans().empty());
}

TEST(Timeline, ALaneWithoutSpansHasNoneAndSumsAreZero) {
  Timeline timeline;
  const LaneId early = timeline.lane({0}, {0});
  timeline.sort();
  const LaneId late = timeline.lane({1}, {0});
  EXPECT_TRUE(timeline.is_sorted());
  for (const LaneId lane : {early, late}) {
    EXPECT_TRUE(timeline.spans_of(lane).empty());
    EXPECT_EQ(timeline.sum(lane, SpanKind::kCompute).spans, 0);
    EXPECT_EQ(timeline.busy(lane, SpanKind::kCompute), Seconds());
  }
}

TEST(Timeline, SpansOfNoLengthAreCountedAndTakeNoTime) {
  Timeline timeline;
  const LaneId lane = timeline.lane({0}, {0});
  timeline.add(lane, timeline.label(kGemm), 7, 0);
  timeline.sort();
  EXPECT_EQ(timeline.sum(lane, SpanKind::kCompute).spans, 1);
  EXPECT_EQ(timeline.busy(lane, SpanKind::kCompute), Seconds());
}

TEST(Timeline, TheFarthestTimesAddUpWithoutOverflow) {
  Timeline timeline;
  const LaneId lane = timeline.lane({0}, {0});
  const LabelId label = timeline.label(kGemm);
  for (int i = 0; i < 3; ++i) {
    timeline.add(lane, label, -Timeline::kFarthestNs, 2 * Timeline::kFarthestNs);
  }
  timeline.sort();
  const double whole = 2.0 * static_cast<double>(Timeline::kFarthestNs);
  EXPECT_DOUBLE_EQ(timeline.busy(lane, SpanKind::kCompute) / 1_ns, whole);
  EXPECT_DOUBLE_EQ(timeline.sum(lane, SpanKind::kCompute).total / 1_ns, 3.0 * whole);
  EXPECT_DOUBLE_EQ(timeline.extent() / 1_ns, whole);
}

TEST(Timeline, EqualLabelsAndLanesAreStoredOnce) {
  Timeline timeline;
  EXPECT_EQ(timeline.label(kGemm), timeline.label(kGemm));
  EXPECT_NE(timeline.label(kGemm), timeline.label(kReduce));
  const LaneId first = timeline.lane({3}, {7}, "compute");
  EXPECT_EQ(timeline.lane({3}, {7}, "renamed"), first);
  EXPECT_EQ(timeline.labels().size(), 2U);
  EXPECT_EQ(timeline.lanes().size(), 1U);
  EXPECT_EQ(timeline.lanes().front().name, "compute");
}

TEST(Timeline, LabelsThatDifferOnlyInBytesStayApart) {
  Timeline timeline;
  Label unknown = kReduce;
  unknown.bytes.reset();
  Label zero = kReduce;
  zero.bytes = Bytes();
  EXPECT_NE(timeline.label(unknown), timeline.label(zero));
}

TEST(Timeline, CollectivesThatDifferInAnyFactStayApart) {
  Timeline timeline;
  const auto tp = timeline.group({.name = "tp", .size = 8});
  const auto dp = timeline.group({.name = "dp", .size = 8});
  const Collective plain{.op = CollectiveOp::kAllGather,
                         .word = "_allgather_base",
                         .element = ElementType::kBfloat16,
                         .group = tp,
                         .input = 1_MiB,
                         .output = 8_MiB};
  std::vector<Collective> all(8, plain);
  all[1].op.reset();
  all[2].word = "allgather";
  all[3].element = ElementType::kFloat16;
  all[4].group = dp;
  all[5].input.reset();
  all[6].output = 4_MiB;
  Label label{SpanKind::kCommunication, "nccl", {}, {}};
  timeline.label(label);
  for (const Collective& collective : all) {  // the first and the last are the same
    label.collective = collective;
    timeline.label(label);
  }
  EXPECT_EQ(timeline.labels().size(), 8U);
  EXPECT_EQ(timeline.labels()[1].collective, plain);
}

TEST(Timeline, GroupsOfOneNameAreToldApartByTheirRanks) {
  Timeline timeline;
  const auto first = timeline.group({.name = "1", .size = 2, .ranks = {{0}, {1}}});
  const auto second = timeline.group({.name = "1", .size = 2, .ranks = {{2}, {3}}});
  EXPECT_NE(first, second);
  EXPECT_EQ(timeline.group({.name = "1", .size = 2, .ranks = {{0}, {1}}}), first);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(timeline.groups().size(), 2U);
  EXPECT_EQ(timeline.group_of(*second).ranks.front(), RankId{2});
}

TEST(Timeline, WhatIsAnOccurrencesOwnIsReadBack) {
  Timeline timeline;
  const LaneId lane = timeline.lane({0}, {0});
  const LabelId label = timeline.label(kReduce);
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<Occurrence> all{
      {label},
      {.label = label, .correlation = CorrelationId{0}},
      {.label = label, .correlation = CorrelationId{kLeast}},
      {.label = label, .sequence = SequenceNumber{0}},
      {.label = label, .correlation = CorrelationId{kMost}, .sequence = SequenceNumber{kMost}},
      {.label = label, .correlation = CorrelationId{-1}, .sequence = SequenceNumber{-1}}};
  for (const Occurrence& what : all) {
    timeline.add(lane, what, 0, 1);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(timeline.occurrence_of(timeline.spans()[i]), all[i]) << i;
    EXPECT_EQ(timeline.label_of(timeline.spans()[i]), kReduce) << i;
  }
}

TEST(Timeline, AnElementTypeHasTheFormatOfItsName) {
  for (const ElementFormat& format : kElementFormats) {
    EXPECT_EQ(format_of(format.type).torch, format.torch);
  }
}

TEST(Timeline, NeighboursThatTouchStayTouchingAfterRounding) {
  Timeline timeline;
  const LaneId lane = timeline.lane({0}, {0});
  const LabelId label = timeline.label(kGemm);
  const Seconds third = 1_us / 3.0;
  timeline.add(lane, label, Seconds(), third);
  timeline.add(lane, label, third, third);
  EXPECT_EQ(timeline.spans()[0].end_ns(), timeline.spans()[1].start_ns);
}

TEST(Timeline, BusyCountsOverlapsOnceAndOtherKindsNot) {
  Timeline timeline;
  const LaneId lane = timeline.lane({0}, {0});
  const LabelId gemm = timeline.label(kGemm);
  timeline.add(lane, gemm, 0, 100);
  timeline.add(lane, gemm, 50, 100);  // 50 of it is new
  timeline.add(lane, gemm, 60, 10);   // inside
  timeline.add(lane, timeline.label(kReduce), 150, 1000);
  timeline.sort();
  EXPECT_DOUBLE_EQ(timeline.busy(lane, SpanKind::kCompute) / 1_ns, 150.0);
  EXPECT_DOUBLE_EQ(timeline.sum(lane, SpanKind::kCompute).total / 1_ns, 210.0);
  EXPECT_EQ(timeline.sum(lane, SpanKind::kCompute).spans, 3);
  EXPECT_DOUBLE_EQ(timeline.extent() / 1_ns, 1150.0);
}

TEST(Timeline, SortPutsEnclosingSpansFirst) {
  Timeline timeline;
  const LaneId b = timeline.lane({1}, {0});
  const LaneId a = timeline.lane({0}, {0});
  const LabelId label = timeline.label(kGemm);
  timeline.add(a, label, 5, 1);
  timeline.add(b, label, 0, 1);
  timeline.add(b, label, 0, 10);
  timeline.sort();
  EXPECT_EQ(timeline.spans()[0].duration_ns, 10);
  EXPECT_EQ(timeline.spans()[1].duration_ns, 1);
  EXPECT_EQ(timeline.spans()[2].start_ns, 5);
}

TEST(Timeline, AddingEndsTheOrder) {
  Timeline timeline;
  const LaneId lane = timeline.lane({0}, {0});
  timeline.add(lane, timeline.label(kGemm), 5, 1);
  EXPECT_FALSE(timeline.is_sorted());
  timeline.sort();
  EXPECT_TRUE(timeline.is_sorted());
  EXPECT_EQ(timeline.spans_of(lane).size(), 1U);
  timeline.add(lane, timeline.label(kGemm), 1, 1);
  EXPECT_FALSE(timeline.is_sorted());
  timeline.sort();
  EXPECT_EQ(timeline.spans_of(lane).front().start_ns, 1);
  EXPECT_EQ(timeline.sum(lane, SpanKind::kCompute).spans, 2);
}

}  // namespace
}  // namespace sextant::timeline
