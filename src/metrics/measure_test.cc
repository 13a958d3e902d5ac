#include "metrics/measure.h"

#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "metrics/recording_testing.h"

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::Recording;
using timeline::SpanKind;

const Label kGemm{SpanKind::kCompute, "gemm", {}, {}};
const Label kReduce{SpanKind::kCommunication, "ncclDevKernel_AllReduce", {}, {}};
const Label kCopyLabel{SpanKind::kCopy, "Memcpy HtoD", {}, {}};

std::int64_t path_of(const StepMeasures& step, Bound bound) {
  return step.path_ns[static_cast<std::size_t>(bound)];
}

std::int64_t path_total(const StepMeasures& step) {
  std::int64_t total = 0;
  for (const std::int64_t time : step.path_ns) {
    total += time;
  }
  return total;
}

// Five steps of 100 ns on the host, which runs 250 ns ahead: each launches 90 ns of work.
Recording steps_ahead() {
  MadeRecording made;
  for (std::int64_t i = 0; i < 5; ++i) {
    made.step(10 + i, i * 100, (i + 1) * 100);
    made.launch(i * 100 + 5, 5, i * 100 + 250, 90);
  }
  return made.take();
}

TEST(Steps, WorkBelongsToTheStepThatLaunchedItWheneverItRuns) {
  const std::vector<RankMeasures> ranks = measure(steps_ahead());
  ASSERT_EQ(ranks.size(), 1U);
  ASSERT_EQ(ranks[0].kept.size(), 3U);
  EXPECT_EQ(ranks[0].kept[0].number, 11);
  // From the end of step 10's work (340) to that of its own (440).
  EXPECT_EQ(ranks[0].kept[0].window, (Interval{340, 440}));
  EXPECT_EQ(ranks[0].kept[0].time.compute_ns, 90);
  EXPECT_EQ(ranks[0].kept[0].time.idle_ns, 10);
  EXPECT_EQ(ranks[0].kernels.at(0).time.count, 3);
}

TEST(Steps, FirstAndLastAreLeftOutOfThreeOrMore) {
  const RankMeasures rank = measure(steps_ahead()).at(0);
  EXPECT_EQ(rank.steps.steps.size(), 5U);
  EXPECT_EQ(rank.steps.left_out, 2);
  EXPECT_EQ(measure(steps_ahead(), {.steps = StepRange{10, 11}}).at(0).kept.size(), 2U);
}

TEST(Steps, BeyondTheMostAreLeftOutAndCounted) {
  MadeRecording made;
  const auto most = static_cast<std::int64_t>(kMostSteps);
  for (std::int64_t i = 0; i < most + 100; ++i) {
    made.step(i, i * 10, (i + 1) * 10);
  }
  made.launch(5, 1, 8, 1);
  made.launch((most + 50) * 10 + 2, 1, (most + 50) * 10 + 5, 2);
  const Recording recording = made.take();
  const View view = view_of(recording);
  const RankSteps all = steps_of(view).ranks.at(0);
  EXPECT_EQ(all.kept(), most - 2);
  EXPECT_EQ(all.left_out, 102);
  const RankSteps asked = steps_of(view, StepRange{most + 50, most + 50}).ranks.at(0);
  EXPECT_EQ(asked.kept(), 1);
  EXPECT_EQ(asked.kept() + asked.left_out, most + 100);
}

TEST(Steps, WithoutMarksWhatRepeatsIsAStep) {
  MadeRecording made;
  for (std::int64_t i = 0; i < 6; ++i) {
    const std::int64_t at = i * 1000;
    made.launch(at, 5, at + 10, 50, MadeRecording::kMain, {SpanKind::kCompute, "embed", {}, {}});
    for (std::int64_t layer = 0; layer < 4; ++layer) {
      made.launch(at + 100 + layer * 100, 5, at + 110 + layer * 100, 80);
    }
  }
  const RankMeasures rank = measure(made.take()).at(0);
  EXPECT_EQ(rank.steps.basis, StepBasis::kPeriod);
  EXPECT_EQ(rank.steps.found_by, "kernels repeat");
  EXPECT_EQ(rank.steps.steps.size(), 6U);
  for (const StepMeasures& step : rank.kept) {
    EXPECT_EQ(step.time.total_ns(), 1000);
    EXPECT_EQ(step.time.compute_ns, 50 + 4 * 80);
  }
}

TEST(Steps, WithoutMarksTheOptimizerEndsAStep) {
  MadeRecording made;
  for (std::int64_t i = 0; i < 4; ++i) {
    made.launch(i * 100 + 10, 5, i * 100 + 20, 30);
    made.host({SpanKind::kMark, "Optimizer.step#Adam.step", {}, {}}, i * 100 + 60, 40);
  }
  const RankMeasures rank = measure(made.take()).at(0);
  EXPECT_EQ(rank.steps.found_by, "Optimizer.step#Adam.step");
  EXPECT_EQ(rank.steps.steps.size(), 4U);
}

TEST(Steps, WithoutAnyRepetitionTheRecordingIsOneWindow) {
  MadeRecording made;
  made.launch(0, 5, 10, 100);
  const RankMeasures rank = measure(made.take()).at(0);
  EXPECT_EQ(rank.steps.basis, StepBasis::kWhole);
  ASSERT_EQ(rank.kept.size(), 1U);
  EXPECT_EQ(rank.kept[0].window, (Interval{10, 110}));
}

TEST(Breakdown, OverlapCountsOnceAndComputeFirst) {
  MadeRecording made;
  made.step(0, 0, 100);
  made.work(kGemm, 0, 40);
  made.work(kReduce, 30, 30, MadeRecording::kSide);  // 10 beside the gemm
  made.work(kCopyLabel, 50, 20, 21);                 // 10 beside the all-reduce
  const Breakdown time = measure(made.take()).at(0).kept.at(0).time;
  EXPECT_EQ(time.compute_ns, 40);
  EXPECT_EQ(time.exposed_communication_ns, 20);
  EXPECT_EQ(time.exposed_copy_ns, 10);
  EXPECT_EQ(time.idle_ns, 30);
  EXPECT_EQ(time.overlap_ns, 10);
  EXPECT_EQ(time.communication_ns, 30);
  EXPECT_EQ(time.total_ns(), 100);
}

TEST(Idle, IsTheHostsUntilTheCallTheLaunchsDuringItAndTheDevicesAfter) {
  MadeRecording made;
  made.step(0, 0, 200);
  made.launch(0, 5, 10, 40);                   // ends at 50
  made.call("cudaStreamSynchronize", 20, 40);  // to 60: blocked for 10 ns of the gap
  made.launch(80, 10, 95, 105);                // late from 60 to 80, launching to 90, other to 95
  const StepMeasures step = measure(made.take()).at(0).kept.at(0);
  EXPECT_EQ(step.idle.host_blocked_ns, 10);
  EXPECT_EQ(step.idle.host_late_ns, 20);
  EXPECT_EQ(step.idle.launching_ns, 10 + 5);  // and before the first
  EXPECT_EQ(step.idle.other_ns, 5 + 5);
  EXPECT_EQ(step.idle.total_ns(), step.time.idle_ns);
}

TEST(Idle, OfAStreamThatWaitsForAnotherIsADependency) {
  MadeRecording made;
  made.launch(0, 1, 10, 40);
  made.launch(2, 1, 50, 30, MadeRecording::kSide, kReduce);
  made.launch(4, 1, 85, 15);  // queued behind the all-reduce, 5 ns after it ended
  const Recording recording = made.take();
  const View view = view_of(recording);
  const RankLanes& rank = view.ranks.at(0);
  const IdleCauses causes =
      stream_idle(view, rank, activity_of(view, rank), *rank.main, {{10, 100}}).at(0);
  EXPECT_EQ(causes.dependency_ns, 30);
  EXPECT_EQ(causes.other_ns, 5);
  EXPECT_EQ(causes.total_ns(), 35);
}

TEST(Queue, DepthIsWeightedByTime) {
  MadeRecording made;
  made.step(0, 0, 100);
  made.launch(0, 1, 10, 50);  // waits 0-10
  made.launch(5, 1, 60, 40);  // waits 5-60
  const StepMeasures step = measure(made.take()).at(0).kept.at(0);
  ASSERT_TRUE(step.queue);
  EXPECT_EQ(step.queue->waited_ns, 10 + 55);
  EXPECT_EQ(step.queue->total_ns(), 100);
  EXPECT_EQ(step.queue->at_depth_ns[0], 40);
  EXPECT_EQ(step.queue->at_depth_ns[2], 5);
  EXPECT_EQ(step.queue->deepest, 2);
  EXPECT_EQ(step.launches.delay.total_ns, 9 + 54);
  EXPECT_EQ(step.launches.idle.count, 1);
}

TEST(Queue, AGraphOfKernelsIsOneCall) {
  MadeRecording made;
  made.step(0, 0, 100);
  made.call("cudaGraphLaunch", 0, 5, timeline::CorrelationId{1});
  for (std::int64_t i = 0; i < 8; ++i) {
    made.work(kGemm, 10 + 10 * i, 10, MadeRecording::kMain, timeline::CorrelationId{1});
  }
  const StepMeasures step = measure(made.take()).at(0).kept.at(0);
  EXPECT_EQ(step.queue->deepest, 1);
  EXPECT_EQ(step.launches.delay.count, 1);
  EXPECT_EQ(path_of(step, Bound::kCompute), 80);
}

// Defect 5 of the peers: where queues were deep, a step is not bound by the host, synchronisation
// recorded or not.
TEST(CriticalPath, IsTheDevicesWhereQueuesWereDeep) {
  MadeRecording made;
  made.step(0, 0, 1000);
  for (std::int64_t i = 0; i < 100; ++i) {
    made.launch(i * 2, 1, 10 + i * 10, 9);
  }
  const StepMeasures step = measure(made.take()).at(0).kept.at(0);
  EXPECT_EQ(path_total(step), step.window.length_ns());
  EXPECT_EQ(path_of(step, Bound::kCompute), 900);
  EXPECT_LE(path_of(step, Bound::kHost), 10);
}

TEST(CriticalPath, IsTheHostsWhereEveryLaunchComesLate) {
  MadeRecording made;
  made.step(0, 0, 1000);
  for (std::int64_t i = 0; i < 10; ++i) {
    made.launch(i * 100, 10, i * 100 + 15, 5);
  }
  const StepMeasures step = measure(made.take()).at(0).kept.at(0);
  EXPECT_EQ(path_total(step), step.window.length_ns());
  EXPECT_EQ(path_of(step, Bound::kLaunch), 15);
  EXPECT_GE(path_of(step, Bound::kHost), 900);
}

TEST(CriticalPath, GoesFromAHostThatWaitedToTheWorkItWaitedFor) {
  MadeRecording made;
  made.step(0, 0, 200);
  made.launch(0, 5, 10, 90);                  // ends at 100
  made.call("cudaDeviceSynchronize", 6, 99);  // to 105
  made.launch(120, 5, 130, 70);               // ends at 200
  const StepMeasures step = measure(made.take()).at(0).kept.at(0);
  EXPECT_EQ(path_of(step, Bound::kCompute), 160);
  EXPECT_EQ(path_of(step, Bound::kSync), 5);
  EXPECT_EQ(path_of(step, Bound::kHost), 15);
  EXPECT_EQ(path_of(step, Bound::kLaunch), 20);
}

TEST(CriticalPath, FollowsARecordedWaitToTheOtherStream) {
  MadeRecording made;
  made.step(0, 0, 110);
  made.launch(0, 1, 10, 20);
  made.launch(2, 1, 30, 60, MadeRecording::kSide, kReduce);
  made.launch(4, 1, 92, 18);
  made.recording().has_sync_events = true;
  made.recording().waits.push_back({.rank = {0},
                                    .at_ns = 3,
                                    .stream = {MadeRecording::kMain},
                                    .correlation = {},
                                    .waited_on = StreamId{MadeRecording::kSide},
                                    .recorded_by = {}});
  const StepMeasures step = measure(made.take()).at(0).kept.at(0);
  EXPECT_EQ(path_of(step, Bound::kCommunication), 60);
  EXPECT_EQ(path_of(step, Bound::kDependency), 2);
  EXPECT_EQ(step.assumed_waits, 0);
}

TEST(CriticalPath, SaysWhatItAssumedWithoutRecordedWaits) {
  MadeRecording made;
  made.step(0, 0, 110);
  made.launch(0, 1, 10, 20);
  made.launch(2, 1, 30, 60, MadeRecording::kSide, kReduce);
  made.launch(4, 1, 92, 18);
  const StepMeasures step = measure(made.take()).at(0).kept.at(0);
  EXPECT_EQ(path_of(step, Bound::kCommunication), 60);
  // The second gemm for the all-reduce, and that for the first.
  EXPECT_EQ(step.assumed_waits, 2);
}

// Whatever was recorded: parts add up, exactly.
// Defect 6 of the peers: time grew with events times steps, and does not come back from this.
TEST(Measure, TakesNoLongerForManySteps) {
  constexpr std::int64_t kSteps = 30'000;
  MadeRecording made;
  for (std::int64_t i = 0; i < kSteps; ++i) {
    made.step(i, 100 * i, 100 * (i + 1));
    for (std::int64_t j = 0; j < 3; ++j) {
      made.launch(100 * i + 30 * j, 5, 100 * i + 30 * j + 10, 20);
    }
  }
  const RankMeasures rank = measure(made.take()).at(0);
  ASSERT_EQ(std::ssize(rank.kept), kSteps - 2);
  for (const StepMeasures& step : rank.kept) {
    ASSERT_EQ(step.time.compute_ns, 60);
  }
}

// Every kernel on a stream of its own, each told to wait for the one before: what looks at all
// streams for each kernel, or at all waits for each stream, does not come back from this.
TEST(Measure, TakesNoLongerForManyStreams) {
  constexpr std::int64_t kStreams = 40'000;
  MadeRecording made;
  for (std::int64_t i = 0; i < kStreams; ++i) {
    made.launch(10 * i, 2, 10 * i + 4, 5, i);
    made.recording().waits.push_back({.rank = {0},
                                      .at_ns = 10 * i - 1,
                                      .stream = {i},
                                      .correlation = {},
                                      .waited_on = StreamId{i - 1},
                                      .recorded_by = {}});
  }
  made.recording().has_sync_events = true;
  made.step(0, 0, 10 * kStreams);
  const StepMeasures step = measure(made.take()).at(0).kept.at(0);
  EXPECT_EQ(step.time.compute_ns, 5 * kStreams);
  EXPECT_EQ(path_total(step), step.window.length_ns());
}

RC_GTEST_PROP(Measure, PartsAddUpToTheStep, ()) {
  MadeRecording made;
  const auto steps = *rc::gen::inRange<std::int64_t>(1, 6);
  for (std::int64_t i = 0; i < steps; ++i) {
    made.step(i, i * 1000, (i + 1) * 1000);
  }
  const auto works = *rc::gen::inRange(1, 60);
  for (int i = 0; i < works; ++i) {
    const auto call = *rc::gen::inRange<std::int64_t>(0, steps * 1000);
    const Label& label = *rc::gen::elementOf(std::vector<Label>{kGemm, kReduce, kCopyLabel});
    made.launch(call, *rc::gen::inRange<std::int64_t>(0, 50),
                call + *rc::gen::inRange<std::int64_t>(-20, 500),
                *rc::gen::inRange<std::int64_t>(0, 300), *rc::gen::inRange<std::int64_t>(0, 3),
                label);
    if (i % 7 == 0) {
      made.call("cudaStreamSynchronize", call + 60, *rc::gen::inRange<std::int64_t>(0, 300));
    }
  }
  made.recording().has_sync_events = *rc::gen::arbitrary<bool>();
  for (const RankMeasures& rank : measure(made.take(), {.steps = StepRange{0, steps}})) {
    for (const StepMeasures& step : rank.kept) {
      RC_ASSERT(step.window.length_ns() > 0);
      RC_ASSERT(step.time.total_ns() == step.window.length_ns());
      RC_ASSERT(step.idle.total_ns() == step.time.idle_ns);
      RC_ASSERT(path_total(step) == step.window.length_ns());
      RC_ASSERT(std::accumulate(step.categories_ns.begin(), step.categories_ns.end(),
                                std::int64_t{0}) == step.window.length_ns());
      if (step.queue) {
        RC_ASSERT(step.queue->total_ns() == step.window.length_ns());
      }
      RC_ASSERT(step.time.idle_ns >= 0 && step.time.exposed_copy_ns >= 0);
    }
  }
}

}  // namespace
}  // namespace sextant::metrics
