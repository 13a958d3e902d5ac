#include "metrics/ranges.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "metrics/measure.h"
#include "metrics/recording_testing.h"

namespace sextant::metrics {
namespace {

using timeline::SpanKind;

timeline::Label host_label(const std::string& name, SpanKind kind = SpanKind::kHost) {
  return {kind, name, {}, {}};
}

const RangeRow* row_of(const RankMeasures& rank, std::string_view name) {
  for (const RangeRow& row : rank.ranges) {
    if (row.name == name) {
      return &row;
    }
  }
  return nullptr;
}

// One step of 1000 ns. forward [0, 500) holds aten::mm [10, 100), whose kernel runs [30, 130), and
// launches one itself, [200, 260); after it a call outside of all ranges, [700, 710).
RankMeasures measured_ranges() {
  MadeRecording made;
  made.step(0, 0, 1000);
  made.host(host_label("ProfilerStep#12", SpanKind::kMark), 0, 600);
  made.host(host_label("forward", SpanKind::kMark), 0, 500);
  made.host(host_label("aten::mm"), 10, 90);
  made.launch(20, 5, 30, 100);
  made.launch(150, 5, 200, 60);
  made.launch(690, 5, 700, 10);
  return measure(made.take()).at(0);
}

TEST(Ranges, ARangeHasWhatWasLaunchedWithinIt) {
  const RankMeasures rank = measured_ranges();
  const RangeRow* product = row_of(rank, "aten::mm");
  ASSERT_NE(product, nullptr);
  EXPECT_EQ(product->count, 1);
  EXPECT_EQ(product->work_ns, 100);
  EXPECT_EQ(product->own_work_ns, 100);
  const RangeRow* forward = row_of(rank, "forward");
  ASSERT_NE(forward, nullptr);
  EXPECT_EQ(forward->work_ns, 160);
  EXPECT_EQ(forward->own_work_ns, 60);
}

// The device idles [0, 30) until aten::mm's kernel, [130, 200) until forward's own, [260, 700)
// until that of no range, and to the end.
TEST(Ranges, IdleTimeBelongsToTheRangeWhoseWorkEndsIt) {
  const RankMeasures rank = measured_ranges();
  EXPECT_EQ(row_of(rank, "forward")->own_idle_ns, 70);
  EXPECT_EQ(row_of(rank, "aten::mm")->idle_ns, 30);
  ASSERT_NE(row_of(rank, ""), nullptr);
  EXPECT_EQ(row_of(rank, "")->own_idle_ns, 440 + 290);
  EXPECT_EQ(row_of(rank, "")->own_work_ns, 10);
}

TEST(Ranges, AStepsNumberIsLeftOut) {
  const RankMeasures rank = measured_ranges();
  const RangeRow* step = row_of(rank, "ProfilerStep#");
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->work_ns, 160);
  EXPECT_EQ(step->own_work_ns, 0);
}

TEST(Ranges, ARangeInAnotherOfItsNameCountsOnce) {
  MadeRecording made;
  made.step(0, 0, 1000);
  made.host(host_label("block"), 0, 500);
  made.host(host_label("block"), 10, 90);
  made.launch(20, 5, 30, 100);
  const RankMeasures rank = measure(made.take()).at(0);
  const RangeRow* block = row_of(rank, "block");
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->count, 2);
  EXPECT_EQ(block->work_ns, 100);
  EXPECT_EQ(block->own_work_ns, 100);
}

// Own work and own idle time of all rows are all there is.
RC_GTEST_PROP(Ranges, OwnTimesAddUpToTheKeptSteps, ()) {
  MadeRecording made;
  const auto steps = *rc::gen::inRange<std::int64_t>(1, 5);
  std::int64_t device = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t from = step * 10'000;
    made.step(step, from, from + 10'000);
    for (std::int64_t at = from + 10; at < from + 9'000;) {
      const auto takes = *rc::gen::inRange<std::int64_t>(200, 2'000);
      const auto depth = *rc::gen::inRange<std::int64_t>(0, 4);
      for (std::int64_t i = 0; i < depth; ++i) {
        made.host(host_label("range" + std::to_string(i)), at + i, takes - 2 * i);
      }
      device = std::max(device, at + 20) + *rc::gen::inRange<std::int64_t>(0, 300);
      const auto work = *rc::gen::inRange<std::int64_t>(1, 900);
      made.launch(at + 10, 5, device, work);
      device += work;
      at += takes;
    }
  }
  const RankMeasures rank = measure(made.take()).at(0);
  std::int64_t work = 0;
  std::int64_t idle = 0;
  for (const RangeRow& row : rank.ranges) {
    work += row.own_work_ns;
    idle += row.own_idle_ns;
    RC_ASSERT(row.own_work_ns <= row.work_ns);
    RC_ASSERT(row.own_idle_ns <= row.idle_ns);
  }
  std::int64_t kernels = 0;
  for (const KernelRow& row : rank.kernels) {
    kernels += row.time.total_ns;
  }
  RC_ASSERT(work == kernels);
  RC_ASSERT(idle == totals(rank).idle.total_ns());
}

}  // namespace
}  // namespace sextant::metrics
