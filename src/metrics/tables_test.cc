#include "metrics/tables.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "metrics/collectives.h"
#include "metrics/measure.h"
#include "metrics/recording_testing.h"

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::Recording;
using timeline::SpanKind;

TEST(Spread, HasTheDeviationOfASample) {
  Spread spread;
  for (const std::int64_t time : {2, 4, 4, 4, 5, 5, 7, 9}) {
    spread.add(time);
  }
  EXPECT_DOUBLE_EQ(spread.mean_ns(), 5.0);
  EXPECT_DOUBLE_EQ(spread.deviation_ns(), std::sqrt(32.0 / 7.0));
  EXPECT_EQ(spread.min_ns, 2);
  EXPECT_EQ(spread.max_ns, 9);
}

// Hours in nanoseconds: squares are past 64 bits, differences far below what doubles hold of them.
TEST(Spread, IsExactForLongTimesThatHardlyDiffer) {
  constexpr std::int64_t kHour = 3'600'000'000'000;
  Spread spread;
  spread.add(kHour - 1);
  spread.add(kHour + 1);
  EXPECT_DOUBLE_EQ(spread.deviation_ns(), std::sqrt(2.0));
}

RC_GTEST_PROP(Spread, AddsUpInAnyOrder, (const std::vector<std::uint32_t>& times)) {
  Spread forward;
  Spread left;
  Spread right;
  for (std::size_t i = 0; i < times.size(); ++i) {
    forward.add(times[i]);
    (i % 2 == 0 ? left : right).add(times[i]);
  }
  Spread joined = right;
  joined += left;
  RC_ASSERT(joined == forward);
}

// Defect 4 of the peers: with many names, each row's own spread must stay its own.
TEST(KernelTable, KeepsTheSpreadOfEveryNameHoweverManyThereAre) {
  MadeRecording made;
  std::int64_t at = 0;
  for (std::int64_t name = 0; name < 40; ++name) {
    for (const std::int64_t takes : {10, 30}) {
      made.launch(at, 1, at + 5, takes + name, MadeRecording::kMain,
                  {SpanKind::kCompute, "kernel_" + std::to_string(name), {}, {}});
      at += 100;
    }
  }
  const RankMeasures rank = measure(made.take()).at(0);
  ASSERT_EQ(rank.kernels.size(), 40U);
  for (const KernelRow& row : rank.kernels) {
    EXPECT_EQ(row.time.count, 2);
    EXPECT_EQ(row.time.max_ns - row.time.min_ns, 20);
    EXPECT_DOUBLE_EQ(row.time.deviation_ns(), std::sqrt(200.0));
  }
  EXPECT_EQ(rank.kernels.front().name, "kernel_39");
}

TEST(OperatorTable, WorkIsTheInnermostOperatorsThatLaunchedIt) {
  MadeRecording made;
  made.step(0, 0, 400);
  made.host({SpanKind::kHost, "aten::linear", {}, {}}, 0, 100);
  made.host({SpanKind::kHost, "aten::mm", {}, Flops(5e9)}, 10, 50);
  made.launch(20, 5, 200, 40);
  made.launch(30, 5, 240, 10);
  made.launch(70, 5, 250, 7);   // after mm, inside linear
  made.launch(150, 5, 300, 3);  // of no operator
  const RankMeasures rank = measure(made.take()).at(0);
  ASSERT_EQ(rank.operators.size(), 3U);
  EXPECT_EQ(rank.operators[0].name, "aten::mm");
  EXPECT_EQ(rank.operators[0].time.count, 1);
  EXPECT_EQ(rank.operators[0].kernels, 2);
  EXPECT_EQ(rank.operators[0].time.total_ns, 50);
  EXPECT_DOUBLE_EQ(rank.operators[0].flops.value(), 5e9);
  EXPECT_EQ(rank.operators[1].name, "aten::linear");
  EXPECT_EQ(rank.operators[2].name, "gemm");
}

TEST(OperatorTable, OfCpusCountsARangeWithoutThoseInsideIt) {
  MadeRecording made;
  made.step(0, 0, 100);
  made.host({SpanKind::kHost, "aten::linear", {}, {}}, 0, 60);
  made.host({SpanKind::kHost, "aten::mm", {}, {}}, 10, 40);
  const RankMeasures rank = measure(made.take()).at(0);
  EXPECT_FALSE(rank.has_device);
  ASSERT_EQ(rank.operators.size(), 2U);
  EXPECT_EQ(rank.operators[0].time.total_ns, 40);
  EXPECT_EQ(rank.operators[1].time.total_ns, 20);
  EXPECT_EQ(rank.kept.at(0).time.compute_ns, 60);
}

// 1 MiB over 8 ranks in 100 us: 10.49 GB/s, and 2 · 7/8 of that on the bus.
TEST(CollectiveTable, CountsBandwidthAsNcclTestsDoes) {
  MadeRecording made;
  const Label reduce = all_reduce_label(made.recording(), 1_MiB, 8);
  made.launch(0, 1, 10, 100'000, MadeRecording::kSide, reduce);
  made.launch(200'000, 1, 200'010, 300'000, MadeRecording::kSide, reduce);
  const RankMeasures rank = measure(made.take()).at(0);
  ASSERT_EQ(rank.collectives.size(), 1U);
  const CollectiveRow& row = rank.collectives[0];
  EXPECT_EQ(row.op, CollectiveOp::kAllReduce);
  EXPECT_EQ(row.ranks, 8);
  EXPECT_EQ(row.size_class, 1 << 20);
  EXPECT_NEAR(row.algorithm_bandwidth()->base(), 2 * 1048576 / 400e-6, 1.0);
  EXPECT_NEAR(row.bus_bandwidth()->base(), 1.75 * 2 * 1048576 / 400e-6, 1.0);
  EXPECT_NEAR(row.fastest->base(), 1048576 / 100e-6, 1.0);
}

TEST(Memory, PeaksOfAStepCountWhatWasAllocatedBefore) {
  MadeRecording made;
  made.step(0, 0, 100);
  made.step(1, 100, 200);
  made.launch(10, 1, 20, 50);
  made.launch(110, 1, 120, 50);
  made.recording().memory = {{{0}, 5, 100, 100, 1000}, {{0}, 50, -60, 40, 1000}};
  made.recording().has_memory = true;
  const RankMeasures rank = measure(made.take()).at(0);
  ASSERT_EQ(rank.kept.size(), 2U);
  EXPECT_EQ(rank.kept[0].memory->allocated_bytes, 100);
  EXPECT_EQ(rank.kept[0].memory->allocated_at_ns, 5);
  EXPECT_EQ(rank.kept[1].memory->allocated_bytes, 40);
  EXPECT_EQ(rank.kept[1].memory->reserved_bytes, 1000);
}

}  // namespace
}  // namespace sextant::metrics
