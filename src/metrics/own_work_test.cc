#include "metrics/own_work.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "metrics/breakdown.h"
#include "metrics/recording_testing.h"
#include "metrics/summary.h"

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::SpanKind;

constexpr std::int64_t kEnd = 1'000;

// Compute 100–200, then idle till 300, launched late; an all-reduce 300–500 with compute beside it
// at 350–400; a loader from 550 on, whose kernel begins at 700.
timeline::Recording one_step() {
  MadeRecording made;
  const Label reduce = all_reduce_label(made.recording(), 1_MiB, 8);
  made.step(0, 0, kEnd);
  made.launch(90, 5, 100, 100);
  made.launch(290, 5, 300, 200, MadeRecording::kSide, reduce);
  made.launch(295, 5, 350, 50);
  made.host({SpanKind::kMark, "enumerate(DataLoader)#_Iter.__next__", {}, {}}, 550, 100);
  made.launch(690, 5, 700, 300);
  return made.take();
}

TEST(OwnWork, IsCutWhereACommunicationStartsAndEnds) {
  const RankSummary rank = summarize(one_step()).ranks.at(0);
  ASSERT_EQ(rank.work.size(), 3U);
  const OwnWork& before = rank.work[0];
  EXPECT_EQ(before.end_ns, 300);
  EXPECT_EQ(before.compute_ns, 100);
  // The device waits from 0 to 90 and from 200 to 290 for calls; these take 5 ns each.
  EXPECT_EQ(before.host_ns, 90 + 5 + 90 + 5);
  EXPECT_EQ(before.other_ns, 5 + 5);
  // Beside the all-reduce: what computes, and from 400 on the host, since what comes next is
  // launched at 690.
  EXPECT_EQ(rank.work[1].total_ns(), 150);
  EXPECT_EQ(rank.work[1].compute_ns, 50);
  EXPECT_EQ(rank.work[1].host_ns, 100);
  EXPECT_EQ(rank.work[2].start_ns, 500);
  EXPECT_EQ(rank.work[2].data_ns, 100);
  EXPECT_EQ(rank.work[2].host_ns, 500 - 300 - 100 - 5);
  EXPECT_EQ(rank.work[2].compute_ns, 300);
}

// All of a window is own work or exposed communication, whatever ran; where nothing that computes
// was launched it is both.
RC_GTEST_PROP(OwnWork, AddsUpWithExposedCommunicationToTheWindow, ()) {
  MadeRecording made;
  const Label reduce = all_reduce_label(made.recording(), 1_MiB, 8);
  made.step(0, 0, kEnd);
  std::int64_t at = 0;
  for (int i = 0; i < 12; ++i) {
    at += *rc::gen::inRange<std::int64_t>(1, 60);
    const auto takes = *rc::gen::inRange<std::int64_t>(1, 80);
    const bool is_reduce = *rc::gen::inRange(0, 3) == 0;
    made.launch(at - 1, 1, at, takes, is_reduce ? MadeRecording::kSide : MadeRecording::kMain,
                is_reduce ? reduce : Label{SpanKind::kCompute, "gemm", {}, {}});
  }
  const RankSummary rank = summarize(made.take()).ranks.at(0);
  std::int64_t own = 0;
  for (const OwnWork& one : rank.work) {
    RC_ASSERT(one.total_ns() <= one.end_ns - one.start_ns);
    own += one.total_ns();
  }
  const Breakdown& time = rank.steps.at(0).time;
  RC_ASSERT(own + time.exposed_communication_ns >= time.total_ns());
  RC_ASSERT(own <= time.total_ns());
}

// A rank of CPUs: what is neither an operator, nor loading, nor communication is the host's doing.
TEST(OwnWork, OfARankOfCpusIsWhatItsThreadsDo) {
  MadeRecording made;
  made.step(0, 0, kEnd);
  made.host({SpanKind::kMark, "enumerate(DataLoader)#_Iter.__next__", {}, {}}, 0, 200);
  made.host({SpanKind::kHost, "aten::mm", {}, {}}, 250, 100);
  made.host({SpanKind::kCommunication, "gloo:all_reduce", {}, {}}, 400, 600);
  const RankSummary rank = summarize(made.take()).ranks.at(0);
  ASSERT_EQ(rank.work.size(), 1U);
  EXPECT_EQ(rank.work[0].data_ns, 200);
  EXPECT_EQ(rank.work[0].compute_ns, 100);
  EXPECT_EQ(rank.work[0].host_ns, 100);
}

TEST(OwnWork, OfAWholeJobsTraceIsItsOperations) {
  timeline::Recording job;
  job.recorder = timeline::Recorder::kChrome;
  timeline::Timeline& made = job.timeline;
  const auto lane = made.lane({0}, {3});
  made.add(lane, made.label({SpanKind::kCompute, "forward-compute", {}, {}}), 0, 40);
  made.add(lane, made.label({SpanKind::kHost, "gc", {}, {}}), 40, 7);
  made.add(lane, made.label({SpanKind::kCommunication, "forward-send", {}, {}}), 50, 9);
  made.sort();
  job.steps = {{{0}, 23, 0, 100}};
  const RankSummary rank = summarize(job).ranks.at(0);
  ASSERT_EQ(rank.work.size(), 2U);
  EXPECT_TRUE(rank.is_whole_job);
  EXPECT_EQ(rank.names.at(rank.work[0].name), "forward-compute");
  EXPECT_EQ(rank.work[0].compute_ns, 40);
  EXPECT_EQ(rank.work[0].lane, 3);
  EXPECT_EQ(rank.names.at(rank.work[1].name), "gc");
  EXPECT_EQ(rank.work[1].host_ns, 7);
  ASSERT_EQ(rank.instances.size(), 1U);
  EXPECT_EQ(rank.names.at(rank.instances[0].name), "forward-send");
}

}  // namespace
}  // namespace sextant::metrics
