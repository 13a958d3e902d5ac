#include "profile/nsys.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/scratch_folder_testing.h"
#include "profile/nsys_testing.h"
#include "profile/testing.h"

namespace sextant::profile {
namespace {

using timeline::Place;
using timeline::Recording;
using timeline::Span;
using timeline::SpanKind;

// Process 7's ids: 7 << 24 = 117440512, and its thread 5.
constexpr const char* kStrings =
    "CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "INSERT INTO StringIds VALUES (1,'gemm'),(2,'ncclDevKernel_SendRecv()'),"
    "(3,'cudaLaunchKernel_v7000'),(4,'cudaStreamWaitEvent_v3020'),(5,'cudaDeviceSynchronize_v3020')"
    ","
    "(6,'ncclAllReduce'),(7,'main'),(8,'{\"Message size [bytes]\": 4096}'),(9,'train');";
constexpr const char* kKernels =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER, "
    "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, "
    "shortName INTEGER);";
constexpr const char* kCalls =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, eventClass INTEGER, "
    "globalTid INTEGER, correlationId INTEGER, nameId INTEGER);";
constexpr const char* kRanges =
    "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, "
    "globalTid INTEGER, textId INTEGER, jsonTextId INTEGER);";

Recording recording_of(const std::string& sql) {
  auto read = read_nsys_bytes(database_of(sql), "test.sqlite", plain_nsys_options());
  EXPECT_TRUE(read) << (read ? "" : to_text(read.error()));
  return read ? std::move(*read) : Recording();
}

std::vector<Span> spans_named(const Recording& recording, std::string_view name) {
  std::vector<Span> found;
  for (const Span& span : recording.timeline.spans()) {
    if (recording.timeline.label_of(span).name == name) {
      found.push_back(span);
    }
  }
  return found;
}

std::int64_t unread(const Recording& recording, std::string_view words) {
  std::int64_t count = 0;
  for (const timeline::Unread& entry : recording.unread) {
    count += entry.what.find(words) != std::string::npos ? entry.count : 0;
  }
  return count;
}

TEST(Nsys, AnExportOfNothingIsEmpty) {
  const Recording recording = recording_of(kStrings);
  EXPECT_TRUE(recording.timeline.spans().empty());
  EXPECT_TRUE(recording.ranks.empty());
  EXPECT_TRUE(recording.unread.empty());
  EXPECT_EQ(recording.recorder, timeline::Recorder::kNsight);
}

TEST(Nsys, KernelsLieOnTheStreamsOfTheirDevice) {
  const Recording recording =
      recording_of(std::string(kStrings) + kKernels +
                   "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100,150,0,7,11,117440512,1,1),"
                   "(160,170,0,7,12,117440512,2,2);");
  ASSERT_EQ(recording.timeline.spans().size(), 2U);
  const Span gemm = recording.timeline.spans()[0];
  EXPECT_EQ(gemm.start_ns, 100);
  EXPECT_EQ(gemm.duration_ns, 50);
  EXPECT_EQ(recording.timeline.label_of(gemm).name, "gemm");
  EXPECT_EQ(recording.timeline.label_of(gemm).kind, SpanKind::kCompute);
  EXPECT_EQ(recording.timeline.occurrence_of(gemm).correlation, timeline::CorrelationId{11});
  EXPECT_EQ(recording.timeline.lane_of(gemm).stream, StreamId{7});
  EXPECT_EQ(recording.timeline.lane_of(gemm).place, Place::kDevice);
  const timeline::Label& nccl = recording.timeline.label_of(recording.timeline.spans()[1]);
  EXPECT_EQ(nccl.kind, SpanKind::kCommunication);
  EXPECT_EQ(nccl.collective->op, CollectiveOp::kSendReceive);
}

// Two processes that each see their device as number 0 (CUDA_VISIBLE_DEVICES), and one process with
// two devices: every (device, process) that ran a kernel is a rank.
TEST(Nsys, EveryProcessAndDeviceThatRanKernelsIsARank) {
  const Recording recording = recording_of(
      std::string(kStrings) + kKernels + kCalls +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER, "
      "streamId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,1,117440512,1,1),"
      "(1,2,1,7,2,117440512,1,1),(1,2,0,7,1,134217728,1,1);"
      // Process 9 copied and ran no kernel.
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1,2,0,7,150994944,8,1);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0,1,0,117440517,2,3),"
      "(0,1,0,134217733,1,3),(0,1,0,150994949,1,3);");
  ASSERT_EQ(recording.ranks.size(), 3U);
  EXPECT_FALSE(recording.ranks[0].is_stated);
  EXPECT_EQ(unread(recording, "copies of processes that ran no kernel"), 1);
  EXPECT_EQ(unread(recording, "calls of processes that ran nothing"), 1);
  // The call of correlation 2 goes to the rank whose device it sent work to: (device 1, process 7)
  // comes after (0, 7) and (0, 8).
  const auto calls = spans_named(recording, "cudaLaunchKernel");
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(recording.timeline.lane_of(calls[0]).rank, RankId{2});
  EXPECT_EQ(recording.timeline.lane_of(calls[1]).rank, RankId{1});
  EXPECT_EQ(recording.timeline.lane_of(calls[0]).place, Place::kHost);
}

TEST(Nsys, OneRankIsWhatItsEnvironmentSays) {
  const std::string one =
      std::string(kStrings) + kKernels +
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,1,117440512,1,1);"
      "CREATE TABLE META_DATA_CAPTURE(name TEXT, value TEXT);"
      "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE','RANK=\"3\"'),"
      "('PROCESS_0:ENVIRONMENT_VARIABLE','WORLD_SIZE=\"16\"'),('OTHER','RANK=9');";
  const Recording recording = recording_of(one);
  ASSERT_EQ(recording.ranks.size(), 1U);
  EXPECT_EQ(recording.ranks[0].rank, RankId{3});
  EXPECT_TRUE(recording.ranks[0].is_stated);
  EXPECT_EQ(recording.ranks[0].world, 16);
  EXPECT_EQ(recording.timeline.lanes()[0].rank, RankId{3});
  // With two ranks in the file it is the environment of who started them.
  const Recording two = recording_of(
      one + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,1,7,1,117440512,1,1);");
  EXPECT_FALSE(two.ranks[0].is_stated);
  EXPECT_EQ(two.ranks[0].rank, RankId{0});
}

TEST(Nsys, DevicesAreWhatTheFileSays) {
  const Recording recording = recording_of(
      std::string(kStrings) + kKernels +
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,1,117440512,1,1);"
      "CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT, totalMemory INTEGER, "
      "memoryBandwidth INTEGER, smCount INTEGER);"
      "INSERT INTO TARGET_INFO_GPU VALUES (0,'first',1,1,1),(3,'NVIDIA H200',150754820096,"
      "4800000000000,132);"
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0,0,8),(3,0,7);"
      "CREATE TABLE TARGET_INFO_SYSTEM_ENV(name TEXT, value TEXT);"
      "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname','node12');"
      "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER);"
      "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1779782330176752435);");
  ASSERT_TRUE(recording.ranks.size() == 1 && recording.ranks[0].device);
  EXPECT_EQ(recording.ranks[0].host, "node12");
  EXPECT_EQ(recording.ranks[0].device->name, "NVIDIA H200");
  EXPECT_EQ(recording.ranks[0].device->memory, 150754820096_B);
  EXPECT_EQ(recording.ranks[0].device->memory_bandwidth, 4.8_TBps);
  EXPECT_EQ(recording.ranks[0].device->multiprocessors, 132);
  EXPECT_EQ(recording.origin_ns, 1779782330176752435);
}

TEST(Nsys, CopiesSetsAndGraphsAreSpansOfTheirStream) {
  const Recording recording = recording_of(
      std::string(kStrings) + kKernels +
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,1,117440512,1,1);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER, "
      "streamId INTEGER, globalPid INTEGER, correlationId INTEGER, bytes INTEGER, "
      "copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (5,9,0,8,117440512,3,4096,1,1,2);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER, end INTEGER, deviceId INTEGER, "
      "streamId INTEGER, globalPid INTEGER, bytes INTEGER, memKind INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (9,10,0,8,117440512,16,2);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INTEGER, end INTEGER, "
      "deviceId INTEGER, streamId INTEGER, globalPid INTEGER, correlationId INTEGER, "
      "graphId INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (20,90,0,7,117440512,4,12);");
  const auto copies = spans_named(recording, "Memcpy HtoD (Pinned -> Device)");
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(recording.timeline.label_of(copies[0]).kind, SpanKind::kCopy);
  EXPECT_EQ(recording.timeline.label_of(copies[0]).bytes, 4096_B);
  EXPECT_EQ(spans_named(recording, "Memset (Device)").size(), 1U);
  ASSERT_EQ(spans_named(recording, "CUDA graph 12").size(), 1U);
  EXPECT_EQ(spans_named(recording, "CUDA graph 12")[0].duration_ns, 70);
  EXPECT_EQ(unread(recording, "the kernels of a CUDA graph"), 1);
}

TEST(Nsys, RangesAreMarksOperatorsOrCallsOfNccl) {
  const Recording recording = recording_of(
      std::string(kStrings) + kKernels + kRanges +
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,1,117440512,1,1);"
      "CREATE TABLE ThreadNames(nameId INTEGER, globalTid INTEGER);"
      "INSERT INTO ThreadNames VALUES (7,117440517);"
      "INSERT INTO NVTX_EVENTS VALUES (10,20,59,'aten::mm, seq = 4, op_id = 9',117440517,"
      "NULL,NULL),(30,40,60,NULL,117440517,6,8),(50,60,59,'attention',117440517,NULL,NULL),"
      "(70,70,34,'mark',117440517,NULL,NULL),(80,NULL,60,'open',117440517,NULL,NULL),"
      "(0,0,75,NULL,117440517,7,NULL);");
  ASSERT_EQ(spans_named(recording, "aten::mm").size(), 1U);
  const Span operation = spans_named(recording, "aten::mm")[0];
  EXPECT_EQ(recording.timeline.label_of(operation).kind, SpanKind::kHost);
  EXPECT_EQ(recording.timeline.lane_of(operation).name, "main");
  EXPECT_EQ(recording.timeline.lane_of(operation).stream, StreamId{5});
  ASSERT_EQ(spans_named(recording, "ncclAllReduce").size(), 1U);
  const timeline::Label& nccl =
      recording.timeline.label_of(spans_named(recording, "ncclAllReduce")[0]);
  EXPECT_EQ(nccl.kind, SpanKind::kHost);
  EXPECT_EQ(nccl.bytes, 4096_B);
  EXPECT_EQ(nccl.collective->op, CollectiveOp::kAllReduce);
  ASSERT_EQ(spans_named(recording, "attention").size(), 1U);
  EXPECT_EQ(recording.timeline.label_of(spans_named(recording, "attention")[0]).kind,
            SpanKind::kMark);
  EXPECT_EQ(unread(recording, "NVTX marks"), 1);
  EXPECT_EQ(unread(recording, "NVTX ranges without a start or an end"), 1);
}

TEST(Nsys, StepsAreTheRangesThatCoverMostOfThoseNamedLikeSteps) {
  const std::string base =
      std::string(kStrings) + kKernels + kRanges +
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,1,117440512,1,1);";
  const Recording recording = recording_of(
      base +
      "INSERT INTO NVTX_EVENTS VALUES (100,200,59,'iteration 5',117440517,NULL,NULL),"
      "(0,90,59,'iteration 4',117440517,NULL,NULL),(10,20,59,'batch 1',117440517,NULL,NULL),"
      "(110,120,59,'batch 2',117440517,NULL,NULL),"
      "(0,50,59,'forward_step',117440517,NULL,NULL);");
  ASSERT_EQ(recording.steps.size(), 2U);
  EXPECT_EQ(recording.steps[0].number, 4);
  EXPECT_EQ(recording.steps[0].start_ns, 0);
  EXPECT_EQ(recording.steps[0].end_ns, 90);
  EXPECT_EQ(recording.steps[1].number, 5);
  // Ranges that overlap are no steps, nor is one range without a number.
  EXPECT_TRUE(recording_of(base +
                           "INSERT INTO NVTX_EVENTS VALUES (0,20,59,'step 1',117440517,NULL,NULL),"
                           "(10,30,59,'step 2',117440517,NULL,NULL);")
                  .steps.empty());
  EXPECT_TRUE(
      recording_of(base +
                   "INSERT INTO NVTX_EVENTS VALUES (0,20,59,'train step',117440517,NULL,NULL);")
          .steps.empty());
}

// The number of the kind differs between versions of the export; the call's name decides.
TEST(Nsys, WaitsAreWhatTheirCallSays) {
  const Recording recording = recording_of(
      std::string(kStrings) + kKernels + kCalls +
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,1,117440512,1,1);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INTEGER, end INTEGER, deviceId "
      "INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER, "
      "eventId INTEGER, eventSyncId INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES "
      "(10,12,0,24,21,117440512,2,1,16863),(20,90,0,4294967295,22,117440512,3,1,4294967295),"
      "(95,99,0,7,23,117440512,3,1,4294967295);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(globalPid INTEGER, eventId INTEGER, "
      "eventSyncId INTEGER, streamId INTEGER, correlationId INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (117440512,1,16863,7,20),"
      "(117440512,1,9,99,9);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (9,13,0,117440517,21,4),"
      "(19,91,0,117440517,22,5);");
  ASSERT_EQ(recording.waits.size(), 3U);
  EXPECT_TRUE(recording.has_sync_events);
  const timeline::StreamWait& stream = recording.waits[0];
  EXPECT_FALSE(stream.blocks_host);
  EXPECT_EQ(stream.stream, StreamId{24});
  EXPECT_EQ(stream.waited_on, StreamId{7});
  EXPECT_EQ(stream.recorded_by, timeline::CorrelationId{20});
  const timeline::StreamWait& device = recording.waits[1];
  EXPECT_TRUE(device.blocks_host);
  EXPECT_EQ(device.stream, StreamId{-1});
  EXPECT_EQ(device.duration_ns, 70);
  const timeline::StreamWait& host = recording.waits[2];
  EXPECT_TRUE(host.blocks_host);
  EXPECT_EQ(host.stream, StreamId{7});
}

TEST(Nsys, AllocationsOfTheDeviceAddUp) {
  const Recording recording = recording_of(
      std::string(kStrings) + kKernels +
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,1,117440512,1,1);"
      "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start INTEGER, globalPid INTEGER, deviceId "
      "INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER);"
      "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (30,117440512,0,100,2,1),"
      "(10,117440512,0,300,2,0),(20,117440512,0,7,1,0),(25,117440512,0,7,2,5);");
  ASSERT_EQ(recording.memory.size(), 2U);
  EXPECT_TRUE(recording.has_memory);
  EXPECT_EQ(recording.memory[0].allocated_bytes, 300);
  EXPECT_EQ(recording.memory[1].change_bytes, -100);
  EXPECT_EQ(recording.memory[1].allocated_bytes, 200);
  EXPECT_EQ(unread(recording, "allocations without"), 1);
}

TEST(Nsys, AFileIsReadAndLeftAsItIs) {
  const ScratchFolder folder;
  const std::string bytes = database_of(std::string(kStrings) + kKernels +
                                        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
                                        "(1,2,0,7,1,117440512,1,1);");
  const std::string path = folder.write("a?b#c%20 d.sqlite", bytes);
  const auto recording = read_nsys(path, plain_nsys_options());
  ASSERT_TRUE(recording) << to_text(recording.error());
  EXPECT_EQ(recording->timeline.spans().size(), 1U);
  EXPECT_EQ(recording->bytes, Bytes(static_cast<double>(bytes.size())));
  // Nothing was written beside it.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()),
                          std::filesystem::directory_iterator()),
            1);
}

// One report a rank, as srun writes them: each counts its devices from 0.
TEST(Nsys, AFileWithoutARankIsWhoseItsNameOrCallerSays) {
  const ScratchFolder folder;
  const std::string one =
      std::string(kStrings) + kKernels +
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,1,117440512,1,1);";
  const std::string two =
      one + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,1,7,1,117440512,1,1);";
  const auto ranks = [](const std::string& path, std::optional<RankId> asked) {
    ReadOptions options = options_of_tests();
    options.rank = asked;
    const auto recording = read_profile(path, options);
    EXPECT_TRUE(recording);
    std::vector<std::int64_t> found;
    for (const timeline::RecordedRank& rank : recording->ranks) {
      EXPECT_EQ(recording->timeline.lanes()[found.size()].rank, rank.rank);
      found.push_back(rank.is_stated ? rank.rank.value : -1);
    }
    return found;
  };
  using Ranks = std::vector<std::int64_t>;
  EXPECT_EQ(ranks(folder.write("report_rank3.sqlite", database_of(one)), {}), Ranks{3});
  EXPECT_EQ(ranks(folder.write("node_1.sqlite", database_of(one)), {}), Ranks{-1});
  EXPECT_EQ(ranks(folder.write("rank3.sqlite", database_of(two)), {}), (Ranks{-1, -1}));
  EXPECT_EQ(ranks(folder.write("node1.sqlite", database_of(two)), RankId{8}), (Ranks{8, 9}));
}

TEST(Nsys, WhatIsNoExportIsRefusedByWhatItLacks) {
  const auto other =
      read_nsys_bytes(database_of("CREATE TABLE t(x);"), "t.sqlite", plain_nsys_options());
  ASSERT_FALSE(other);
  EXPECT_NE(to_text(other.error()).find("StringIds"), std::string::npos);
  EXPECT_FALSE(read_nsys_bytes("no database", "t.sqlite", plain_nsys_options()));
  EXPECT_FALSE(read_nsys("/nonexistent.sqlite", plain_nsys_options()));
}

}  // namespace
}  // namespace sextant::profile
