#include "profile/xplane.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "profile/xplane_testing.h"
#include "timeline/launches.h"

namespace sextant::profile {
namespace {

using timeline::Label;
using timeline::Place;
using timeline::Recording;
using timeline::Span;
using timeline::SpanKind;

Recording recording_of_space(const std::vector<TestPlane>& planes) {
  const std::string bytes = space_of(planes);
  auto read = read_xplane(opener(bytes), "test.xplane.pb", plain_xplane_options());
  EXPECT_TRUE(read) << (read ? "" : to_text(read.error()));
  return read ? std::move(*read) : Recording();
}

const Label& label_named(const Recording& recording, std::string_view name) {
  for (const Label& label : recording.timeline.labels()) {
    if (label.name == name) {
      return label;
    }
  }
  ADD_FAILURE() << "no label " << name;
  static const Label kNone;
  return kNone;
}

std::int64_t unread_of_space(const Recording& recording, std::string_view words) {
  std::int64_t count = 0;
  for (const timeline::Unread& entry : recording.unread) {
    count += entry.what.find(words) != std::string::npos ? entry.count : 0;
  }
  return count;
}

// A module "jit_step": a dot of cuBLAS and an all-reduce.
WireWriter step_module() {
  const WireWriter call = WireWriter()
                              .bytes(28, "__cublas$gemm")
                              .bytes(43, R"({"lhs_contracting_dimensions":["1"]})")
                              .message(7, WireWriter().bytes(2, "jit(step)/dot_general"));
  const WireWriter group = WireWriter().message(49, WireWriter().packed(1, {0, 1}));
  return hlo_proto(
      "jit_step",
      {computation_proto(
          1, {{1, "a", "parameter", array_shape(kTestBf16, {4, 8})},
              {2, "b", "parameter", array_shape(kTestBf16, {8, 16})},
              {3, "custom-call.1", "custom-call", array_shape(kTestBf16, {4, 16}), {1, 2}, call},
              {4,
               "all-reduce-start.1",
               "all-reduce-start",
               array_shape(kTestBf16, {4, 16}),
               {3},
               group}})},
      1, {1, 2, 3, 4});
}

std::vector<TestStat> operator_stats(const std::string& operation, std::int64_t correlation) {
  return {{"hlo_op", operation},
          {"hlo_module", std::string("jit_step")},
          {"program_id", std::int64_t{9}},
          {"correlation_id", correlation}};
}

TEST(Xplane, KernelsLieOnTheStreamsOfTheirDeviceToTheNearestNanosecond) {
  const Recording recording =
      recording_of_space({TestPlane("/device:GPU:0")
                              .line(14, "Stream #14(Compute)", 1000,
                                    {{"gemm", 2'499, 1'000'000}, {"next", 1'002'499, 501}})
                              .stat_of_plane({"gpu_device_name", std::string("NVIDIA H200")})
                              .stat_of_plane({"core_count", std::int64_t{132}})
                              .stat_of_plane({"memory_size", std::int64_t{150109880320}})
                              .stat_of_plane({"memory_bandwidth", std::int64_t{4814304000000}})});
  ASSERT_EQ(recording.timeline.spans().size(), 2U);
  const Span first = recording.timeline.spans()[0];
  const Span second = recording.timeline.spans()[1];
  EXPECT_EQ(first.start_ns, 1002);
  EXPECT_EQ(first.end_ns(), 2002);
  // They touch, and stay touching.
  EXPECT_EQ(second.start_ns, 2002);
  EXPECT_EQ(second.end_ns(), 2003);
  EXPECT_EQ(recording.timeline.lane_of(first).stream, StreamId{14});
  EXPECT_EQ(recording.timeline.lane_of(first).place, Place::kDevice);
  ASSERT_EQ(recording.ranks.size(), 1U);
  EXPECT_EQ(recording.ranks[0].host, "host7");
  EXPECT_EQ(recording.ranks[0].device->name, "NVIDIA H200");
  EXPECT_EQ(recording.ranks[0].device->multiprocessors, 132);
  EXPECT_EQ(recording.ranks[0].device->memory_bandwidth, 4814.304_GBps);
}

TEST(Xplane, OperatorsAreCountedFromTheModuleThatTheFileCarries) {
  const Recording recording = recording_of_space(
      {TestPlane("/host:metadata").module("jit_step", 9, step_module()),
       TestPlane("/device:GPU:1")
           .line(14, "Stream #14", 0,
                 {{"nvjet", 0, 100'000, operator_stats("custom-call.1", 5)},
                  {"splitK", 100'000, 10'000, operator_stats("custom-call.1", 6)},
                  {"ncclDevKernel_AllReduce", 200'000, 50'000,
                   operator_stats("all-reduce-start.1", 7)}}),
       TestPlane("/host:CPU")
           .line(77, "python3", 0,
                 {{"cuLaunchKernel", 0, 10'000, {{"correlation_id", std::int64_t{5}}}}})});
  const Label& gemm = label_named(recording, "nvjet");
  // 2 · 4 · 16 · 8 at its first kernel, and not again at the second.
  EXPECT_EQ(gemm.flops, 1024_flop);
  EXPECT_EQ(gemm.bytes, Bytes(2 * (32 + 128 + 64)));
  EXPECT_EQ(gemm.operation, (timeline::Operation{"custom-call.1", "custom-call", "jit_step"}));
  EXPECT_FALSE(label_named(recording, "splitK").flops);
  EXPECT_EQ(label_named(recording, "splitK").operation, gemm.operation);
  const Label& nccl = label_named(recording, "ncclDevKernel_AllReduce");
  EXPECT_EQ(nccl.kind, SpanKind::kCommunication);
  EXPECT_EQ(nccl.collective->op, CollectiveOp::kAllReduce);
  EXPECT_EQ(nccl.collective->element, timeline::ElementType::kBfloat16);
  EXPECT_EQ(nccl.bytes, 128_B);
  ASSERT_TRUE(nccl.collective->group);
  EXPECT_EQ(recording.timeline.group_of(*nccl.collective->group).ranks,
            (std::vector<RankId>{{0}, {1}}));
  EXPECT_EQ(timeline::launches(recording.timeline).size(), 1U);
  ASSERT_EQ(recording.programs.size(), 1U);
  EXPECT_EQ(recording.programs[0].name, "jit_step");
}

// "command_buffer_1" is no instruction: the schedule tells.
TEST(Xplane, KernelsOfACommandBufferAreMatchedWithTheSchedule) {
  std::vector<TestEvent> events;
  for (std::int64_t run = 0; run < 3; ++run) {
    const auto stats = operator_stats("command_buffer_1", 1 + run);
    events.push_back({"Memset", run * 1'000'000, 1'000, stats});
    events.push_back({"nvjet", run * 1'000'000 + 2'000, 100'000, stats});
    events.push_back({"ncclKernel", run * 1'000'000 + 200'000, 100'000, stats});
  }
  const Recording recording =
      recording_of_space({TestPlane("/host:metadata").module("jit_step", 9, step_module()),
                          TestPlane("/device:GPU:0").line(14, "Stream #14", 0, events)});
  EXPECT_EQ(label_named(recording, "nvjet").operation->name, "custom-call.1");
  EXPECT_EQ(label_named(recording, "nvjet").flops, 1024_flop);
  EXPECT_EQ(label_named(recording, "Memset").kind, SpanKind::kCopy);
  // Steps are the runs of the module, each until the next begins.
  ASSERT_EQ(recording.steps.size(), 3U);
  EXPECT_EQ(recording.steps[0].start_ns, 0);
  EXPECT_EQ(recording.steps[0].end_ns, 1000);
  EXPECT_EQ(recording.steps[2].end_ns, 2300);
}

TEST(Xplane, StepsAreTheLineOfStepsElseTheHostsMarksElseRuns) {
  const auto kernels = [](std::int64_t at) {
    return TestEvent{"gemm",
                     at,
                     400'000,
                     {{"hlo_op", std::string("dot.1")}, {"hlo_module", std::string("jit_f")}}};
  };
  const TestPlane runs =
      TestPlane("/device:GPU:0").line(1, "Stream #1", 0, {kernels(100'000), kernels(1'100'000)});
  EXPECT_EQ(recording_of_space({runs}).steps.size(), 2U);
  EXPECT_EQ(recording_of_space({runs}).steps[0].end_ns, 1100);
  const auto mark = [](std::int64_t number, std::int64_t at, std::int64_t duration) {
    return TestEvent{"train", at, duration, {{"step_num", number}, {"_r", std::int64_t{1}}}};
  };
  // Each run lies in a mark.
  const TestPlane marks =
      TestPlane("/host:CPU")
          .line(7, "python3", 0, {mark(40, 0, 900'000), mark(41, 1'000'000, 600'000)});
  const Recording marked = recording_of_space({marks, runs});
  ASSERT_EQ(marked.steps.size(), 2U);
  EXPECT_EQ(marked.steps[0].number, 40);
  EXPECT_EQ(marked.steps[1].start_ns, 1000);
  EXPECT_EQ(marked.steps[1].end_ns, 1600);
  EXPECT_EQ(label_named(marked, "train 40").kind, SpanKind::kMark);
  // The device is behind its host: its runs are the steps.
  const TestPlane early =
      TestPlane("/host:CPU").line(7, "python3", 0, {mark(40, 0, 10'000), mark(41, 20'000, 10'000)});
  EXPECT_EQ(recording_of_space({early, runs}).steps[1].start_ns, 1100);
  const TestPlane lined = TestPlane("/device:GPU:0")
                              .line(1, "Stream #1", 0, {kernels(100'000), kernels(1'100'000)})
                              .line(2, "Steps", 0, {{"7", 50'000, 500'000}});
  const Recording stated = recording_of_space({lined});
  ASSERT_EQ(stated.steps.size(), 1U);
  EXPECT_EQ(stated.steps[0].number, 7);
  EXPECT_EQ(stated.steps[0].start_ns, 50);
}

// By XLA's conventions; no recorded plane of a training run was at hand.
TEST(Xplane, TpuOperatorsHaveTheirCategoryAndThePlanesOwnCounts) {
  const std::vector<TestStat> matmul{{"hlo_category", std::string("convolution fusion")},
                                     {"program_id", std::int64_t{9}},
                                     {"flops", std::int64_t{4096}},
                                     {"bytes_accessed", std::int64_t{512}}};
  const Recording recording = recording_of_space(
      {TestPlane("/device:TPU:2")
           .line(1, "Steps", 0, {{"12", 0, 1'000'000}, {"13", 1'000'000, 900'000}})
           .line(2, "XLA Modules", 0, {{"jit_train(9)", 0, 900'000}})
           .line(3, "XLA Ops", 0,
                 {{"%while.1 = () while()",
                   0,
                   800'000,
                   {},
                   {{"hlo_category", std::string("while")}},
                   "while.1"},
                  {"%fusion.3 = bf16[8] fusion()", 0, 300'000, {}, matmul, "fusion.3"},
                  {"%all-reduce-done.1 = bf16[8] all-reduce-done()",
                   300'000,
                   100'000,
                   {},
                   {{"hlo_category", std::string("all-reduce")}},
                   "all-reduce-done.1"},
                  {"%copy-start.2 = bf16[8] copy-start()",
                   400'000,
                   10'000,
                   {},
                   {{"hlo_category", std::string("copy-start")}},
                   "copy-start.2"}})
           .line(
               4, "Async XLA Ops", 0,
               {{"%all-gather-start.4 = bf16[8]", 100'000, 200'000, {}, {}, "all-gather-start.4"}})
           .line(5, "Framework Ops", 0, {{"MatMul", 0, 300'000}})
           .stat_of_plane({"device_type_string", std::string("TPU v5p")})
           .stat_of_plane({"peak_teraflops_per_second", 459.0})
           .stat_of_plane({"peak_hbm_bw_gigabytes_per_second", 2765.0}),
       TestPlane("/device:TPU:2 SparseCore 1")
           .line(1, "Sparse Core Ops", 0, {{"gather_offload", 0, 50'000}})});
  ASSERT_EQ(recording.ranks.size(), 1U);
  EXPECT_EQ(recording.ranks[0].rank, RankId{2});
  EXPECT_EQ(recording.ranks[0].device->name, "TPU v5p");
  EXPECT_EQ(recording.ranks[0].device->peak, 459_TFLOPps);
  EXPECT_EQ(recording.ranks[0].device->memory_bandwidth, 2765_GBps);
  const Label& fusion = label_named(recording, "fusion.3");
  EXPECT_EQ(fusion.kind, SpanKind::kCompute);
  EXPECT_EQ(fusion.flops, 4096_flop);
  EXPECT_EQ(fusion.bytes, 512_B);
  EXPECT_EQ(fusion.operation, (timeline::Operation{"fusion.3", "convolution fusion", "jit_train"}));
  // A loop's time is that of what it holds.
  EXPECT_EQ(label_named(recording, "while.1").kind, SpanKind::kMark);
  EXPECT_EQ(label_named(recording, "all-reduce-done.1").kind, SpanKind::kCommunication);
  EXPECT_EQ(label_named(recording, "all-reduce-done.1").collective->op, CollectiveOp::kAllReduce);
  EXPECT_EQ(label_named(recording, "all-gather-start.4").collective->op, CollectiveOp::kAllGather);
  EXPECT_EQ(label_named(recording, "copy-start.2").kind, SpanKind::kCopy);
  EXPECT_EQ(label_named(recording, "gather_offload").kind, SpanKind::kCompute);
  ASSERT_EQ(recording.steps.size(), 2U);
  EXPECT_EQ(recording.steps[1].number, 13);
  EXPECT_EQ(recording.steps[1].end_ns, 1900);
  EXPECT_EQ(unread_of_space(recording, "lines that repeat others"), 1);
}

TEST(Xplane, TheMeshAndShardingsAreFactsOfTheProgram) {
  const WireWriter mesh = WireWriter()
                              .message(1, WireWriter().bytes(1, "data").number(2, 2))
                              .message(1, WireWriter().bytes(1, "tensor").number(2, 4));
  const WireWriter axis = WireWriter().number(1, 1);
  const WireWriter named = WireWriter()
                               .message(2, mesh)
                               .message(3, WireWriter().message(1, axis))
                               .message(3, WireWriter());
  const WireWriter tiles = WireWriter().number(1, 3).packed(3, {2, 1}).packed(9, {2});
  const WireWriter proto =
      hlo_proto("jit_step",
                {computation_proto(1, {{1,
                                        "p.1",
                                        "parameter",
                                        array_shape(kTestBf16, {4, 8}),
                                        {},
                                        WireWriter()
                                            .message(40, WireWriter().message(14, named))
                                            .message(7, WireWriter().bytes(2, "p['emb']"))},
                                       {2,
                                        "q.1",
                                        "parameter",
                                        array_shape(kTestBf16, {4, 8}),
                                        {},
                                        WireWriter().message(40, tiles)}})},
                1, {1, 2});
  const Recording recording =
      recording_of_space({TestPlane("/host:metadata").module("jit_step", 3, proto),
                          TestPlane("/device:GPU:0").line(1, "Stream #1", 0, {{"k", 0, 1000}})});
  ASSERT_EQ(recording.programs.size(), 1U);
  EXPECT_EQ(recording.programs[0].id, 3);
  EXPECT_EQ(recording.programs[0].mesh, "data=2,tensor=4");
  ASSERT_EQ(recording.programs[0].shardings.size(), 2U);
  EXPECT_EQ(recording.programs[0].shardings[0].of, "p['emb']");
  EXPECT_EQ(recording.programs[0].shardings[0].sharding, "[{tensor}, {}]");
  EXPECT_EQ(recording.programs[0].shardings[1].sharding, "{devices=[2,1]<=[2]}");
}

TEST(Xplane, CopiesAndAllocationsHaveTheirBytes) {
  const std::vector<TestStat> allocation{{"allocator_name", std::string("GPU_0_bfc")},
                                         {"bytes_allocated", std::int64_t{300}},
                                         {"allocation_bytes", std::int64_t{256}}};
  const Recording recording = recording_of_space(
      {TestPlane("/device:GPU:0")
           .line(1, "Stream #1", 0,
                 {{"MemcpyH2D",
                   0,
                   1000,
                   {{"memcpy_details", std::string("size:4096 dest:0 async:1")}}}}),
       TestPlane("/host:CPU")
           .line(2, "t", 0,
                 {{"MemoryAllocation", 5000, 0, allocation},
                  {"MemoryDeallocation", 9000, 0, allocation}})});
  EXPECT_EQ(label_named(recording, "MemcpyH2D").bytes, 4096_B);
  EXPECT_EQ(label_named(recording, "MemcpyH2D").kind, SpanKind::kCopy);
  ASSERT_EQ(recording.memory.size(), 2U);
  EXPECT_EQ(recording.memory[0].change_bytes, 256);
  EXPECT_EQ(recording.memory[1].change_bytes, -256);
  EXPECT_EQ(recording.memory[1].allocated_bytes, 300);
}

// A process of two devices: a call goes to the one that it sent work to.
TEST(Xplane, CallsBelongToTheDeviceTheySentWorkTo) {
  const auto correlated = [](const char* name, std::int64_t id) {
    return TestEvent{name, 0, 1000, {{"correlation_id", id}}};
  };
  const Recording recording = recording_of_space(
      {TestPlane("/host:CPU").line(2, "t", 0, {correlated("call", 1), correlated("call", 2)}),
       TestPlane("/device:GPU:0").line(1, "Stream #1", 0, {correlated("k", 1)}),
       TestPlane("/device:GPU:1").line(1, "Stream #1", 0, {correlated("k", 2)}),
       TestPlane("/device:GPU:2")});
  EXPECT_EQ(recording.ranks.size(), 2U);
  EXPECT_EQ(timeline::launches(recording.timeline).size(), 2U);
}

// 2026 in nanoseconds since 1970: what a double cannot hold is taken off.
TEST(Xplane, TimesSinceTheEpochBeginAtTheFirst) {
  const Recording recording = recording_of_space(
      {TestPlane("/device:GPU:0")
           .line(1, "Stream #1", 1'794'709'948'656'733'383, {{"k", 3000, 1000}})});
  EXPECT_EQ(recording.origin_ns, 1'794'709'948'656'733'383);
  EXPECT_EQ(recording.timeline.spans()[0].start_ns, 3);
}

}  // namespace
}  // namespace sextant::profile
