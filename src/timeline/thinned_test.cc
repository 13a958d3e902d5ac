#include "timeline/thinned.h"

#include <gtest/gtest.h>

namespace sextant::timeline {
namespace {

Timeline made_timeline() {
  Timeline timeline;
  const LaneId device = timeline.lane({0}, {7}, "stream 7");
  const LaneId host = timeline.lane({0}, {100}, "thread", Place::kHost);
  const auto group = timeline.group({.name = "dp", .size = 2});
  const LabelId reduce = timeline.label(
      {SpanKind::kCommunication, "all-reduce", 1_MiB, {}, Collective{.group = group}});
  for (std::int64_t i = 0; i < 10; ++i) {
    timeline.add(device, timeline.label({SpanKind::kCompute, "kernel", {}, {}}), i * 100, 10 + i);
    timeline.add(host, timeline.label({SpanKind::kHost, "call", {}, {}}), i * 100, 40 - i);
  }
  timeline.add(device, {.label = reduce, .sequence = SequenceNumber{3}}, 2000, 500);
  timeline.sort();
  return timeline;
}

TEST(Thinned, TheLongestOfDevicesAndHostsStay) {
  Timeline thin;
  add_longest(made_timeline(), {.most = 6}, thin);
  thin.sort();
  ASSERT_EQ(thin.spans().size(), 6U);
  std::size_t devices = 0;
  for (const Span& span : thin.spans()) {
    devices += thin.lane_of(span).place == Place::kDevice ? 1U : 0U;
    EXPECT_GE(span.duration_ns, thin.lane_of(span).place == Place::kDevice ? 18 : 38);
  }
  EXPECT_EQ(devices, 3U);
}

TEST(Thinned, WhatASpanIsStaysWithIt) {
  Timeline thin;
  add_longest(made_timeline(), {.most = 2, .shift_ns = 1000}, thin);
  thin.sort();
  const Span& span = thin.spans()[0];
  EXPECT_EQ(span.start_ns, 3000);
  EXPECT_EQ(thin.label_of(span).name, "all-reduce");
  EXPECT_EQ(thin.group_of(*thin.label_of(span).collective->group).name, "dp");
  EXPECT_EQ(thin.occurrence_of(span).sequence, SequenceNumber{3});
  EXPECT_EQ(thin.lane_of(span).name, "stream 7");
}

TEST(Thinned, OnlyWhatLiesInTheWindowCounts) {
  Timeline thin;
  add_longest(made_timeline(), {.most = 100, .from_ns = 105, .to_ns = 300}, thin);
  EXPECT_EQ(thin.spans().size(), 4U);  // of each lane those at 100 and at 200
}

TEST(Thinned, NothingOfNothing) {
  Timeline thin;
  add_longest(Timeline(), {.most = 10}, thin);
  EXPECT_TRUE(thin.spans().empty());
}

}  // namespace
}  // namespace sextant::timeline
