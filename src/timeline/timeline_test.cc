#include "timeline/timeline.h"

#include <gtest/gtest.h>

#include "timeline/chrome_trace.h"

namespace sextant::timeline {
namespace {

const Label kGemm{SpanKind::kCompute, "gemm", std::nullopt, Flops(2e9)};
const Label kReduce{SpanKind::kCommunication, "all_reduce", 64_MiB, std::nullopt};

TEST(Timeline, EmptyHasNoExtent) {
  const Timeline timeline;
  EXPECT_EQ(timeline.extent(), Seconds());
  EXPECT_TRUE(timeline.spans().empty());
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
  EXPECT_DOUBLE_EQ(timeline.busy(lane, SpanKind::kCompute) / 1_ns, 150.0);
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

TEST(ChromeTrace, WritesRanksStreamsAndExactNanoseconds) {
  Timeline timeline;
  const LaneId lane = timeline.lane({2}, {5}, "nccl");
  timeline.add(lane, timeline.label(kReduce), 1'000'000'000'123, 1'007);
  const std::string json = chrome_trace(timeline);
  EXPECT_NE(json.find(R"("pid":2,"tid":5,"ts":1000000000.123,"dur":1.007)"), std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("cat":"communication","args":{"bytes":67108864})"), std::string::npos);
  EXPECT_NE(json.find(R"("args":{"name":"rank 2"})"), std::string::npos);
}

TEST(ChromeTrace, NegativeTimesKeepTheirSign) {
  Timeline timeline;
  timeline.add(timeline.lane({0}, {0}), timeline.label(kGemm), -1'500, 1);
  EXPECT_NE(chrome_trace(timeline).find(R"("ts":-1.500)"), std::string::npos);
}

TEST(ChromeTrace, HostileNamesAreEscaped) {
  Timeline timeline;
  Label label = kGemm;
  label.name = "a\"b\\c\n\xff";
  timeline.add(timeline.lane({0}, {0}), timeline.label(label), 0, 1);
  EXPECT_NE(chrome_trace(timeline).find(R"("name":"a\"b\\c\u000a\ufffd")"), std::string::npos);
}

TEST(ChromeTrace, LargeTracesArriveInPieces) {
  Timeline timeline;
  const LaneId lane = timeline.lane({0}, {0});
  const LabelId label = timeline.label(kGemm);
  for (int i = 0; i < 10'000; ++i) {
    timeline.add(lane, label, i, 1);
  }
  std::size_t largest = 0;
  std::size_t pieces = 0;
  write_chrome_trace(timeline, [&](std::string_view piece) {
    largest = std::max(largest, piece.size());
    pieces += 1;
  });
  EXPECT_GT(pieces, 5U);
  EXPECT_LT(largest, 70'000U);
}

}  // namespace
}  // namespace sextant::timeline
