#include "profile/kineto_reader.h"

#include <string>

#include <gtest/gtest.h>

#include "profile/testing.h"

namespace sextant::profile {
namespace {

using timeline::Recording;

Recording read(const std::string& text, const std::string& name = "trace.json") {
  auto recording = read_profile_bytes(text, name, options_of_tests());
  EXPECT_TRUE(recording) << to_text(recording.error());
  return recording ? *std::move(recording) : Recording{};
}

// As PyTorch 2.4 and later writes it: times from a base, three decimals.
const std::string kSmallTrace = R"json(
{ "schemaVersion": 1,
  "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 85045149696, "numSms": 132}],
  "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
  "record_shapes": 1, "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 505, "tid": 505,
   "ts": 1000.000, "dur": 100.500, "args": {"External id": 1}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 505, "tid": 505,
   "ts": 1010.001, "dur": 5.000, "args": {"cbid": 211, "correlation": 77}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
   "ts": 1020.123, "dur": 30.456, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 77}},
  {"ph": "s", "id": 77, "pid": 505, "tid": 505, "ts": 1010.001, "cat": "ac2g", "name": "ac2g"},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)",
                  "pid" : 0, "tid" : 7, "ts" : 1060.000, "dur" : 2.000,
                  "args" : {"device" : 0, "stream" : 7, "correlation" : 78, "bytes" : 4096}
},
  {"ph": "M", "name": "thread_name", "pid": 505, "tid": 505, "args": {"name": "thread 505 (python3)"}}
  ], "traceName": "x"
})json";

TEST(KinetoReader, ReadsSpansLanesStepsAndFacts) {
  const Recording recording = read(kSmallTrace);
  EXPECT_EQ(recording.recorder, timeline::Recorder::kKineto);
  EXPECT_TRUE(recording.unread.empty());
  ASSERT_EQ(recording.ranks.size(), 1U);
  EXPECT_EQ(recording.ranks[0].rank, RankId{3});
  EXPECT_TRUE(recording.ranks[0].is_stated);
  EXPECT_EQ(recording.ranks[0].world, 8);
  ASSERT_TRUE(recording.ranks[0].device);
  EXPECT_EQ(recording.ranks[0].device->name, "NVIDIA H100");
  EXPECT_EQ(recording.ranks[0].device->multiprocessors, 132);
  EXPECT_EQ(recording.origin_ns, 1'790'857'026'001'000'000);
  ASSERT_EQ(recording.steps.size(), 1U);
  EXPECT_EQ(recording.steps[0].number, 4);
  EXPECT_EQ(recording.steps[0].end_ns, 100'500);
  const timeline::Timeline& timeline = recording.timeline;
  ASSERT_EQ(timeline.lanes().size(), 2U);
  EXPECT_EQ(timeline.lanes()[0].name, "thread 505 (python3)");
  EXPECT_EQ(timeline.lanes()[0].place, timeline::Place::kHost);
  EXPECT_EQ(timeline.lanes()[1].stream, StreamId{7});
  EXPECT_EQ(timeline.lanes()[1].rank, RankId{3});
  ASSERT_EQ(timeline.spans().size(), 4U);
  const timeline::Span& kernel = timeline.spans_of({1})[0];
  EXPECT_EQ(kernel.start_ns, 20'123);
  EXPECT_EQ(kernel.duration_ns, 30'456);
  EXPECT_EQ(timeline.label_of(kernel).kind, timeline::SpanKind::kCompute);
  EXPECT_EQ(timeline.occurrence_of(kernel).correlation, timeline::CorrelationId{77});
  EXPECT_EQ(timeline.label_of(timeline.spans_of({1})[1]).bytes, 4_KiB);
  EXPECT_TRUE(recording.has_shapes);
  EXPECT_FALSE(recording.has_memory);
}

}  // namespace
}  // namespace sextant::profile
