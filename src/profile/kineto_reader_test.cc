#include "profile/kineto_reader.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "profile/testing.h"
#include "timeline/launches.h"

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

std::string trace_of(const std::string& events, const std::string& facts = "") {
  return R"({"schemaVersion":1,)" + facts + R"("traceEvents":[)" + events + "]}";
}

std::string kernel(const std::string& name, const std::string& arguments, int start = 0) {
  return R"({"ph":"X","cat":"kernel","name":")" + name + R"(","pid":0,"tid":7,"ts":)" +
         std::to_string(start) + R"(,"dur":5,"args":{"device":0,"stream":7)" + arguments + "}}";
}

const timeline::Label& label_of_span(const Recording& recording, std::size_t number) {
  return recording.timeline.label_of(recording.timeline.spans()[number]);
}

// Defect 3 of the peers: an operator of Triton bears the argument "stream" and was counted as a
// kernel, 94 µs of compute where 1.76 µs were.
TEST(KinetoReader, AnOperatorThatBearsAStreamIsNoKernel) {
  const Recording recording = read(trace_of(
      R"({"ph":"X","cat":"cpu_op","name":"triton_poi_fused_add","pid":9,"tid":9,"ts":1,"dur":95,)"
      R"("args":{"External id":3,"kernel_backend":"triton","stream":0,"grid":"grid 100"}},)" +
      kernel("triton_poi_fused_add", R"(,"correlation":35)", 90)));
  ASSERT_EQ(recording.timeline.lanes().size(), 2U);
  EXPECT_EQ(recording.timeline.lanes()[0].place, timeline::Place::kHost);
  EXPECT_EQ(label_of_span(recording, 0).kind, timeline::SpanKind::kHost);
  EXPECT_EQ(label_of_span(recording, 1).kind, timeline::SpanKind::kCompute);
  EXPECT_EQ(recording.timeline.sum({1}, timeline::SpanKind::kCompute).busy / 1_ns, 5000.0);
}

// Defect 5: traces without steps, without waits, whose calls have no correlation or kernels no
// call ended in an assertion.
TEST(KinetoReader, NothingThatIsUsuallyThereMustBeThere) {
  const Recording recording = read(trace_of(
      kernel("a", "") + "," + kernel("b", R"(,"correlation":5)", 10) +
      R"(,{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":1,"dur":2},)"
      R"({"ph":"X","cat":"mtia_ccp_events","name":"fc","pid":3,"tid":4,"ts":1,"dur":2},)"
      R"({"ph":"X","cat":"something_new","name":"x","pid":9,"tid":9,"ts":5,"dur":2},)"
      R"({"ph":"X","name":"no category","pid":9,"tid":9,"ts":6,"dur":2})"));
  EXPECT_EQ(recording.timeline.spans().size(), 6U);
  EXPECT_TRUE(recording.steps.empty());
  EXPECT_FALSE(recording.has_sync_events);
  EXPECT_TRUE(recording.unread.empty());
}

// Defect 7, for a whole profile: DeepEP's kernels are communication although nothing else says so.
TEST(KinetoReader, KernelsOfDeepEpAreCommunication) {
  const Recording recording =
      read(trace_of(kernel("void dpsk::ep::intranode::dispatch<8>(int4*)", "")));
  EXPECT_EQ(label_of_span(recording, 0).kind, timeline::SpanKind::kCommunication);
  EXPECT_EQ(label_of_span(recording, 0).collective->op, CollectiveOp::kAllToAll);
}

// Defect 11: raw control characters and bytes that are no UTF-8 in names.
TEST(KinetoReader, RawControlCharactersSurvive) {
  const Recording recording =
      read(trace_of(kernel("a\nb\x01\xff", "") + "," + kernel("c", "", 10)));
  ASSERT_EQ(recording.timeline.spans().size(), 2U);
  EXPECT_EQ(label_of_span(recording, 0).name, "a\nb\x01\xff");
  EXPECT_EQ(label_of_span(recording, 1).name, "c");
}

// Defect 11: two ranks wrote into one file.
TEST(KinetoReader, ASecondDocumentOfAnotherRankIsThatRanks) {
  const std::string one =
      trace_of(kernel("a", ""), R"("distributedInfo":{"rank":0,"world_size":2},)");
  const std::string two = R"({"schemaVersion":1,"traceEvents":[)" + kernel("b", "", 3) +
                          R"(],"distributedInfo":{"rank":1,"world_size":2}})";
  const Recording recording = read(one + "\n" + two);
  ASSERT_EQ(recording.ranks.size(), 2U);
  ASSERT_EQ(recording.timeline.lanes().size(), 2U);
  EXPECT_EQ(recording.timeline.lanes()[1].rank, RankId{1});
  ASSERT_EQ(recording.unread.size(), 1U);
  EXPECT_EQ(recording.unread[0].what, "further documents in the same file (read)");
  // Without a rank of its own it continues the first.
  const Recording same = read(one + trace_of(kernel("b", "", 3)));
  EXPECT_EQ(same.ranks.size(), 1U);
  EXPECT_EQ(same.timeline.lanes().size(), 1U);
  EXPECT_EQ(same.timeline.spans().size(), 2U);
}

TEST(KinetoReader, MetadataSaysWhatACollectiveIs) {
  const Recording recording = read(trace_of(kernel(
      "ncclDevKernel_AllGather_RING_LL",
      R"(,"correlation":15270,"Collective name":"_allgather_base","In msg nelems":25136,)"
      R"("Out msg nelems":201088,"Group size":8,"dtype":"BFloat16","Process Group Name":"3",)"
      R"("Process Group Description":"TENSOR","Process Group Ranks":"[0, 1, ..., 7]",)"
      R"("Global rank start":8,"Global rank stride":2,"Seq":12)")));
  const timeline::Label& label = label_of_span(recording, 0);
  ASSERT_TRUE(label.collective);
  EXPECT_EQ(label.collective->op, CollectiveOp::kAllGather);
  EXPECT_EQ(label.collective->word, "_allgather_base");
  EXPECT_EQ(label.collective->input, 50'272_B);
  EXPECT_EQ(label.collective->output, 402'176_B);
  EXPECT_EQ(label.bytes, 402'176_B);
  const timeline::Group& group = recording.timeline.group_of(*label.collective->group);
  EXPECT_EQ(group.name, "3");
  EXPECT_EQ(group.description, "TENSOR");
  EXPECT_EQ(group.size, 8);
  ASSERT_EQ(group.ranks.size(), 8U);  // the list is cut short: first and distance say the rest
  EXPECT_EQ(group.ranks[7], RankId{22});
  EXPECT_EQ(recording.timeline.occurrence_of(recording.timeline.spans()[0]).sequence,
            timeline::SequenceNumber{12});
}

TEST(KinetoReader, MessagesSayTheirEnds) {
  const Recording recording = read(trace_of(
      kernel("ncclDevKernel_SendRecv(x)",
             R"(,"Collective name":"send","In msg nelems":10,"dtype":"Float","Dst Rank":5)")));
  const timeline::Label& label = label_of_span(recording, 0);
  EXPECT_EQ(label.collective->op, CollectiveOp::kSendReceive);
  EXPECT_EQ(label.collective->receiver, RankId{5});
  EXPECT_FALSE(label.collective->sender);
  EXPECT_EQ(label.bytes, 40_B);
}

// PyTorch before 2.3: only the host's annotation around the launch says the size, in shapes.
TEST(KinetoReader, AKernelWithoutMetadataIsWhatItsCallWasMadeFor) {
  const std::string host =
      R"({"ph":"X","cat":"user_annotation","name":"nccl:all_reduce","pid":9,"tid":9,"ts":0,"dur":50,)"
      R"("args":{"External id":95,"Input type":["c10::Half"],"Input Dims":[[4,2048,4096]]}},)"
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernelExC","pid":9,"tid":9,"ts":40,"dur":5,)"
      R"("args":{"External id":54777,"correlation":54777}},)";
  const std::string name = "ncclDevKernel_AllReduce_Sum_f16_RING_LL(x)";
  const Recording recording =
      read(trace_of(host + kernel(name, R"(,"External id":54777,"correlation":54777)", 60) + "," +
                    kernel(name, R"(,"External id":95,"correlation":99)", 70) + "," +
                    kernel(name, R"(,"External id":98,"correlation":98)", 80)));
  std::vector<std::optional<Bytes>> bytes;
  for (const timeline::Span& span : recording.timeline.spans_of({1})) {
    bytes.push_back(recording.timeline.label_of(span).bytes);
  }
  // By the call within the annotation; by its external id; of the third nothing is known.
  EXPECT_EQ(bytes, (std::vector<std::optional<Bytes>>{64_MiB, 64_MiB, std::nullopt}));
}

TEST(KinetoReader, GlooCommunicatesOnThreadsOfTheHost) {
  const Recording recording = read(trace_of(
      R"({"ph":"X","cat":"user_annotation","name":"gloo:all_reduce","pid":9,"tid":11,"ts":0,"dur":50,)"
      R"("args":{"Input type":["float"],"Input Dims":[[526592]]}},)"
      R"({"ph":"X","cat":"user_annotation","name":"nccl:all_reduce","pid":9,"tid":9,"ts":0,"dur":5})"));
  EXPECT_EQ(recording.timeline.lanes()[0].place, timeline::Place::kHost);
  EXPECT_EQ(label_of_span(recording, 0).kind, timeline::SpanKind::kCommunication);
  EXPECT_EQ(label_of_span(recording, 0).bytes, Bytes(526'592.0 * 4.0));
  EXPECT_EQ(label_of_span(recording, 0).collective->element, timeline::ElementType::kFloat32);
  EXPECT_EQ(label_of_span(recording, 1).kind, timeline::SpanKind::kMark);
}

TEST(KinetoReader, KernelsOfAGraphShareItsLaunch) {
  const Recording recording = read(trace_of(
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":9,"tid":9,"ts":0,"dur":5,)"
      R"("args":{"correlation":7}},)" +
      kernel("a", R"(,"correlation":7)", 10) + "," + kernel("b", R"(,"correlation":7)", 20)));
  EXPECT_EQ(timeline::launches(recording.timeline).size(), 2U);
}

TEST(KinetoReader, WaitsSayWhoWaitsForWhom) {
  const Recording recording = read(trace_of(
      R"({"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":24,"ts":10,"dur":2,"args":)"
      R"({"wait_on_stream":20,"wait_on_cuda_event_record_corr_id":1385,"stream":24,"correlation":1389}},)"
      R"({"ph":"X","cat":"cuda_sync","name":"Event Sync","pid":0,"tid":-1,"ts":5,"dur":4,"args":)"
      R"({"wait_on_stream":-1,"wait_on_cuda_event_record_corr_id":-1,"stream":-1,"correlation":24}})"));
  ASSERT_EQ(recording.waits.size(), 2U);
  EXPECT_TRUE(recording.waits[0].blocks_host);
  EXPECT_FALSE(recording.waits[0].waited_on);
  EXPECT_FALSE(recording.waits[0].recorded_by);
  EXPECT_FALSE(recording.waits[1].blocks_host);
  EXPECT_EQ(recording.waits[1].stream, StreamId{24});
  EXPECT_EQ(recording.waits[1].waited_on, StreamId{20});
  EXPECT_EQ(recording.waits[1].recorded_by, timeline::CorrelationId{1385});
  EXPECT_TRUE(recording.has_sync_events);
}

TEST(KinetoReader, MemoryOfTheDeviceIsKeptInOrder) {
  const auto point = [](int at, int type, const char* more) {
    return R"({"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":9,"tid":9,"ts":)" +
           std::to_string(at) + R"(,"args":{"Device Type":)" + std::to_string(type) +
           R"(,"Device Id":0,"Bytes":-512)" + more + "}}";
  };
  const char* totals = R"(,"Total Allocated":1024,"Total Reserved":4096)";
  const Recording recording =
      read(trace_of(point(9, 1, totals) + "," + point(3, 1, totals) + "," + point(1, 0, totals) +
                    "," + point(2, 1, "") + "," + kernel("a", "")));
  ASSERT_EQ(recording.memory.size(), 2U);
  EXPECT_EQ(recording.memory[0].at_ns, 3000);
  EXPECT_EQ(recording.memory[0].change_bytes, -512);
  EXPECT_EQ(recording.memory[1].reserved_bytes, 4096);
  EXPECT_TRUE(recording.has_memory);
  ASSERT_EQ(recording.unread.size(), 1U);
  EXPECT_EQ(recording.unread[0].count, 1);
}

TEST(KinetoReader, TheRankIsTheCallersElseTheFilesElseTheNames) {
  const std::string bare = "[" + kernel("a", "") + R"(,{"ph":"X","cat":"cpu_op"}])";
  EXPECT_EQ(read(bare, "run/rank-5.json").ranks[0].rank, RankId{5});
  EXPECT_TRUE(read(bare, "run/rank-5.json").ranks[0].is_stated);
  EXPECT_EQ(read(trace_of("", R"("distributedInfo":{"rank":2},)"), "rank-5.json").ranks[0].rank,
            RankId{2});
  EXPECT_FALSE(read(bare).ranks[0].is_stated);
  ReadOptions options = options_of_tests();
  options.rank = RankId{9};
  const auto told = read_profile_bytes(
      trace_of(kernel("a", ""), R"("distributedInfo":{"rank":2},)"), "rank-5.json", options);
  EXPECT_EQ(told->ranks[0].rank, RankId{9});
  EXPECT_TRUE(told->ranks[0].is_stated);
  EXPECT_EQ(told->timeline.lanes()[0].rank, RankId{9});
}

TEST(KinetoReader, EventsThatCanNotBeAreCountedByReason) {
  const auto event = [](const std::string& rest) {
    return R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1)" + rest + "}";
  };
  const Recording recording = read(trace_of(
      event(R"(,"ts":1,"dur":-3)") + "," + event(R"(,"dur":3)") + "," + event(R"(,"ts":1)") + "," +
      event(R"(,"ts":1e30,"dur":1)") + "," + event(R"(,"ts":4000000000000000,"dur":1)") + "," +
      event(R"(,"ts":1,"dur":1)") + R"(,{"name":"no phase"},{"ph":"C","name":"counter"})"));
  std::map<std::string, std::int64_t> unread;
  for (const timeline::Unread& one : recording.unread) {
    unread[one.what] = one.count;
  }
  EXPECT_EQ(unread["events of negative duration"], 1);
  EXPECT_EQ(unread["events without a start"], 2);  // one of them beyond reach
  EXPECT_EQ(unread["events without a duration"], 1);
  EXPECT_EQ(unread["events more than 146 years from the first"], 1);
  EXPECT_EQ(unread["events without a phase"], 1);
  EXPECT_EQ(unread["events of a phase that is not read"], 1);
  EXPECT_EQ(recording.timeline.spans().size(), 1U);
}

}  // namespace
}  // namespace sextant::profile
