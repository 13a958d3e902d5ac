// Exports of Nsight Systems whose numbers are known.
#include <gtest/gtest.h>

#include "base/places_testing.h"
#include "metrics/intervals.h"
#include "profile/nsys.h"
#include "timeline/launches.h"

namespace sextant {
namespace {

using metrics::Interval;
using metrics::Intervals;

profile::NsysOptions nsys_options() {
  return {.kernels = [](std::string_view name) {
    return profile::KernelMeaning{.kind = name.starts_with("nccl")
                                              ? timeline::SpanKind::kCommunication
                                              : timeline::SpanKind::kCompute};
  }};
}

Intervals of_kind(const timeline::Recording& recording, RankId rank, timeline::SpanKind kind) {
  std::vector<Interval> pieces;
  for (const timeline::Span& span : recording.timeline.spans()) {
    const timeline::Lane& lane = recording.timeline.lane_of(span);
    if (lane.rank == rank && lane.place == timeline::Place::kDevice &&
        recording.timeline.label_of(span).kind == kind) {
      pieces.push_back({span.start_ns, span.end_ns()});
    }
  }
  return metrics::united(std::move(pieces));
}

double milliseconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

struct Split {  // of a device's time from its first kernel to its last, in ms
  double compute = 0.0;
  double communication = 0.0;
  double both = 0.0;
  double idle = 0.0;
  double total = 0.0;
};

Split split_of(const timeline::Recording& recording, RankId rank) {
  const Intervals compute = of_kind(recording, rank, timeline::SpanKind::kCompute);
  const Intervals nccl = of_kind(recording, rank, timeline::SpanKind::kCommunication);
  const Intervals busy = united(compute, nccl);
  const std::int64_t total = busy.back().end_ns - busy.front().start_ns;
  return {.compute = milliseconds(length_ns(difference(compute, nccl))),
          .communication = milliseconds(length_ns(difference(nccl, compute))),
          .both = milliseconds(length_ns(intersection(compute, nccl))),
          .idle = milliseconds(total - length_ns(busy)),
          .total = milliseconds(total)};
}

timeline::Recording read_shared(const std::string& file) {
  auto recording = profile::read_nsys(shared_folder() / "traces/nsys" / file, nsys_options());
  EXPECT_TRUE(recording) << (recording ? "" : to_text(recording.error()));
  return recording ? std::move(*recording) : timeline::Recording();
}

class NsysTruth : public testing::Test {
  void SetUp() override {
    if (!std::filesystem::exists(shared_folder() / "traces/nsys")) {
      GTEST_SKIP() << "no profiles in " << shared_folder() / "traces/nsys";
    }
  }
};

// Source: golden/nsys-ai/*.overlap_breakdown.json, to its two decimals of a millisecond.
TEST_F(NsysTruth, TwoDevicesAreSplitAsNsysAiSplitsThem) {
  const timeline::Recording before = read_shared("mfu_2gpu_before.sqlite");
  ASSERT_EQ(before.ranks.size(), 2U);
  const Split split = split_of(before, {0});
  EXPECT_NEAR(split.compute, 253.69, 0.005);
  EXPECT_NEAR(split.communication, 17.17, 0.005);
  EXPECT_EQ(split.both, 0.0);
  EXPECT_NEAR(split.idle, 28.99, 0.005);
  EXPECT_NEAR(split.total, 299.85, 0.005);
  const timeline::Recording after = read_shared("mfu_2gpu_after.sqlite");
  const Split mended = split_of(after, {0});
  EXPECT_NEAR(mended.compute, 227.48, 0.005);
  EXPECT_NEAR(mended.communication, 9.99, 0.005);
  EXPECT_EQ(mended.both, 0.0);
  EXPECT_NEAR(mended.idle, 61.75, 0.005);
  EXPECT_NEAR(mended.total, 299.22, 0.005);
}

// Rows of its tables, counted with the sqlite3 shell: 4010 kernels, 1020 copies, 269 sets, 7466
// calls and 19118 ranges (462 of them NCCL's), 366 waits of which 133 are cudaEventQuery, which
// waits for nothing.
TEST_F(NsysTruth, EveryRowIsASpanOrCounted) {
  const timeline::Recording before = read_shared("mfu_2gpu_before.sqlite");
  EXPECT_EQ(before.timeline.spans().size(), 4010U + 1020U + 269U + 7466U + 19118U);
  EXPECT_EQ(before.waits.size(), 366U - 133U);
  EXPECT_TRUE(before.unread.empty()) << before.unread.front().what;
  EXPECT_EQ(before.ranks[0].host, "modal");
  // Its ranges are PyTorch's operators and NCCL's calls: nobody marked steps.
  EXPECT_TRUE(before.steps.empty());
  for (const timeline::Label& label : before.timeline.labels()) {
    EXPECT_EQ(label.name.find("op_id"), std::string::npos);
  }
}

TEST_F(NsysTruth, EveryKernelHasTheCallThatLaunchedIt) {
  const timeline::Recording mock = read_shared("mock.sqlite");
  ASSERT_EQ(mock.ranks.size(), 1U);
  ASSERT_TRUE(mock.ranks[0].device);
  EXPECT_EQ(mock.ranks[0].device->name, "NVIDIA GeForce RTX 3080");
  EXPECT_EQ(mock.ranks[0].device->memory_bandwidth, 760.08_GBps);
  // Two kernels and a copy, each launched by a call that is there; 9 calls.
  EXPECT_EQ(mock.timeline.spans().size(), 12U);
  EXPECT_EQ(timeline::launches(mock.timeline).size(), 3U);
  // cudaStreamSynchronize, though this version calls its kind that of a stream that waits.
  ASSERT_EQ(mock.waits.size(), 1U);
  EXPECT_TRUE(mock.waits[0].blocks_host);
}

}  // namespace
}  // namespace sextant
