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

// The argument names are those of a kernel in a PyTorch profile: {"Collective name":
// "_allgather_base", "In msg nelems": 25136, "Out msg nelems": 201088, "Group size": 8, "dtype":
// "BFloat16", "Process Group Name": "3", "Process Group Ranks": "[0, 1, ...]", "correlation": ...}.
TEST(ChromeTrace, ACollectiveReadsAsInAPyTorchProfile) {
  Timeline timeline;
  Label label{SpanKind::kCommunication, "ncclDevKernel_AllGather_RING_LL", {}, {}};
  label.collective =
      Collective{.op = CollectiveOp::kAllGather,
                 .element = ElementType::kBfloat16,
                 .group = timeline.group({.name = "3", .size = 2, .ranks = {{0}, {1}}}),
                 .input = 2_KiB,
                 .output = 4_KiB};
  const Occurrence what{.label = timeline.label(label),
                        .correlation = CorrelationId{15270},
                        .sequence = SequenceNumber{12}};
  timeline.add(timeline.lane({0}, {7}), what, 0, 1);
  EXPECT_NE(chrome_trace(timeline).find(
                R"("args":{"Collective name":"_allgather_base","In msg nelems":1024,)"
                R"("Out msg nelems":2048,"dtype":"BFloat16","Group size":2,)"
                R"("Process Group Name":"3","Process Group Ranks":"[0, 1]",)"
                R"("Seq":12,"correlation":15270}})"),
            std::string::npos)
      << chrome_trace(timeline);
}

TEST(ChromeTrace, WhatIsNotKnownOfACollectiveIsNotWritten) {
  Timeline timeline;
  const LaneId lane = timeline.lane({0}, {0});
  const auto arguments = [&](const Collective& collective) {
    Timeline one = timeline;
    one.add(lane, one.label({SpanKind::kCommunication, "x", {}, {}, collective}), 0, 1);
    const std::string json = chrome_trace(one);
    const std::size_t from = json.find(R"("cat":"communication")") + 21;
    return json.substr(from, json.find("},\n", from) - from);
  };
  EXPECT_EQ(arguments({}), "");
  EXPECT_EQ(arguments({.word = "barrier"}), R"(,"args":{"Collective name":"barrier"})");
  EXPECT_EQ(arguments({.group = timeline.group({.name = "tp"})}),
            R"(,"args":{"Process Group Name":"tp"})");
  EXPECT_EQ(arguments({.input = 3_B}), R"(,"args":{"input_bytes":3})");
}

TEST(ChromeTrace, AnArrowLeadsFromACallToWhatItStarted) {
  Timeline timeline;
  const LabelId call = timeline.label({SpanKind::kHost, "cudaLaunchKernel", {}, {}});
  const LabelId gemm = timeline.label(kGemmLabel);
  timeline.add(timeline.lane({3}, {100}), {.label = call, .correlation = CorrelationId{9}}, 0, 10);
  timeline.add(timeline.lane({3}, {7}), {.label = gemm, .correlation = CorrelationId{9}}, 25, 10);
  EXPECT_NE(
      chrome_trace(timeline).find(
          R"({"ph":"s","id":1,"pid":3,"tid":100,"ts":0.000,"cat":"ac2g","name":"ac2g"},)"
          "\n"
          R"({"ph":"f","id":1,"pid":3,"tid":7,"ts":0.025,"cat":"ac2g","name":"ac2g","bp":"e"})"),
      std::string::npos)
      << chrome_trace(timeline);
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
