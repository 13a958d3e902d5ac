// What a Timeline holds: 24 bytes a span, and never more for its labels than it was allowed.
#include <string>

#include <gtest/gtest.h>

#include "timeline/timeline.h"

namespace sextant::timeline {
namespace {

constexpr std::int64_t kMany = 100'000;
// A label, a lane and their tables.
constexpr double kFew = 2000.0;

double bytes_held(const Timeline& timeline) {
  return timeline.memory() / 1_B;
}

TEST(TimelineMemory, ASpanTakes24Bytes) {
  Timeline timeline;
  timeline.reserve(kMany);
  const LaneId lane = timeline.lane({0}, {0});
  const LabelId label = timeline.label({SpanKind::kCompute, "gemm", {}, {}});
  for (std::int64_t i = kMany; i > 0; --i) {
    timeline.add(lane, label, i, 1);
  }
  timeline.sort();
  EXPECT_GE(bytes_held(timeline), 24.0 * kMany);
  EXPECT_LE(bytes_held(timeline), 24.0 * kMany + kFew);
}

TEST(TimelineMemory, FactsOfTheirOwnAreCarriedByTheSpansThatHaveThem) {
  Timeline timeline;
  timeline.reserve(kMany, kMany / 10);
  const LaneId lane = timeline.lane({0}, {0});
  const LabelId label = timeline.label({SpanKind::kCompute, "gemm", {}, {}});
  for (std::int64_t i = kMany; i > 0; --i) {
    Occurrence what{label};
    if (i % 10 == 0) {
      what.correlation = CorrelationId{i};
    }
    timeline.add(lane, what, i, 1);
  }
  timeline.sort();
  EXPECT_LE(bytes_held(timeline), 24.0 * kMany + 16.0 * kMany / 10 + kFew);
}

// A profile that gives each kernel a name of its own.
TEST(TimelineMemory, NamesWithoutEndTakeNoMoreThanTheirRoom) {
  const Bytes room = 1_MiB;
  Timeline timeline(room);
  const LaneId lane = timeline.lane({0}, {0});
  constexpr int kNames = 20'000;
  for (int i = 0; i < kNames; ++i) {
    const SpanKind kind = i % 4 == 0 ? SpanKind::kHost : SpanKind::kCompute;
    timeline.add(lane, timeline.label({kind, "kernel number " + std::to_string(i), {}, {}}), i, 1);
  }
  timeline.sort();
  // Spans without reserve(): up to twice their bytes.
  EXPECT_LE(bytes_held(timeline), 2.0 * 24.0 * kNames + 2.0 * (room / 1_B) + kFew);
  EXPECT_EQ(timeline.folded() + static_cast<std::int64_t>(timeline.labels().size()), kNames + 2);
  const Label& last = timeline.label_of(timeline.spans().back());
  EXPECT_EQ(last, (Label{SpanKind::kCompute, std::string(Timeline::kOtherName), {}, {}}));
  EXPECT_EQ(timeline.sum(lane, SpanKind::kHost).spans, kNames / 4);
  EXPECT_EQ(timeline.sum(lane, SpanKind::kCompute).spans, kNames * 3 / 4);
}

TEST(TimelineMemory, WhatIsKnownKeepsItsLabelWhenTheRoomIsFull) {
  Timeline timeline(1_KiB);
  const Label gemm{SpanKind::kCompute, "gemm", {}, {}};
  const LabelId known = timeline.label(gemm);
  for (int i = 0; i < 100; ++i) {
    timeline.label({SpanKind::kCompute, std::to_string(i), {}, {}});
  }
  EXPECT_GT(timeline.folded(), 0);
  EXPECT_EQ(timeline.label(gemm), known);
}

TEST(TimelineMemory, ANameLongerThanTheRoomIsNotKept) {
  Timeline timeline(1_KiB);
  const LabelId label = timeline.label({SpanKind::kCopy, std::string(2000, 'x'), 5_B, {}});
  EXPECT_EQ(timeline.labels()[static_cast<std::size_t>(label.value)].name, Timeline::kOtherName);
  EXPECT_EQ(timeline.labels().front().kind, SpanKind::kCopy);
  EXPECT_EQ(timeline.folded(), 1);
}

TEST(TimelineMemory, AGroupLargerThanTheRoomIsNotKnown) {
  Timeline timeline(1_KiB);
  EXPECT_TRUE(timeline.group({.name = "tp", .size = 8}));
  EXPECT_FALSE(timeline.group({.name = "world", .ranks = std::vector<RankId>(1000)}));
  EXPECT_EQ(timeline.groups().size(), 1U);
}

}  // namespace
}  // namespace sextant::timeline
