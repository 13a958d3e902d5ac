#include "timeline/chrome_trace.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace sextant::timeline {
namespace {

const Label kGemmLabel{SpanKind::kCompute, "gemm", std::nullopt, Flops(2e9)};
const Label kReduceLabel{SpanKind::kCommunication, "all_reduce", 64_MiB, std::nullopt};

TEST(ChromeTrace, WritesRanksStreamsAndExactNanoseconds) {
  Timeline timeline;
  const LaneId lane = timeline.lane({2}, {5}, "nccl");
  timeline.add(lane, timeline.label(kReduceLabel), 1'000'000'000'123, 1'007);
  const std::string json = chrome_trace(timeline);
  EXPECT_NE(json.find(R"("pid":2,"tid":5,"ts":1000000000.123,"dur":1.007)"), std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("cat":"communication","args":{"bytes":67108864})"), std::string::npos);
  EXPECT_NE(json.find(R"("args":{"name":"rank 2"})"), std::string::npos);
}

TEST(ChromeTrace, NegativeTimesKeepTheirSign) {
  Timeline timeline;
  timeline.add(timeline.lane({0}, {0}), timeline.label(kGemmLabel), -1'500, 1);
  EXPECT_NE(chrome_trace(timeline).find(R"("ts":-1.500)"), std::string::npos);
}

TEST(ChromeTrace, HostileNamesAreEscaped) {
  Timeline timeline;
  Label label = kGemmLabel;
  label.name = "a\"b\\c\n\xff";
  timeline.add(timeline.lane({0}, {0}), timeline.label(label), 0, 1);
  EXPECT_NE(chrome_trace(timeline).find(R"("name":"a\"b\\c\u000a\ufffd")"), std::string::npos);
}

TEST(ChromeTrace, LargeTracesArriveInPieces) {
  Timeline timeline;
  const LaneId lane = timeline.lane({0}, {0});
  const LabelId label = timeline.label(kGemmLabel);
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
