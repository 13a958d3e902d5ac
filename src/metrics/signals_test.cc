#include "metrics/signals.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "metrics/measure.h"
#include "metrics/recording_testing.h"

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::Recording;
using timeline::SpanKind;

constexpr std::int64_t kMs = 1'000'000;

// One step of 100 ms that a person marked, which is kept: with two marks both are.
constexpr std::int64_t kLongStep = 100 * kMs;

const Label kPageableIn{SpanKind::kCopy, "Memcpy HtoD (Pageable -> Device)", 4_MiB, {}};
const Label kOut{SpanKind::kCopy, "Memcpy DtoH (Device -> Pageable)", 4_B, {}};

std::vector<SignalRow> signal_rows(const Recording& recording) {
  return measure(recording).at(0).signals;
}

SignalRow signal_row(const std::vector<SignalRow>& rows, Signal signal,
                     std::string_view what = "") {
  for (const SignalRow& row : rows) {
    if (row.signal == signal && (what.empty() || row.what == what)) {
      return row;
    }
  }
  return {};
}

std::int64_t idle_of(const std::vector<SignalRow>& rows, Signal signal) {
  std::int64_t idle = 0;
  for (const SignalRow& row : rows) {
    idle += row.signal == signal ? row.idle_ns : 0;
  }
  return idle;
}

// A step is marked, and its first work is launched at once and runs for 10 ms.
MadeRecording step_with_work() {
  MadeRecording made;
  made.step(0, 0, kLongStep);
  made.step(1, kLongStep, 2 * kLongStep);
  made.launch(0, 10'000, 10'000, 10 * kMs);
  made.launch(kLongStep, 10'000, kLongStep + 10'000, 10 * kMs);
  return made;
}

TEST(Signals, AStallCostsOnlyWhatTheDeviceWaits) {
  MadeRecording made = step_with_work();
  // The device ends at 10.01 ms; the loader is asked at 4 ms and takes until 30.
  made.call("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 4 * kMs, 26 * kMs);
  made.launch(30 * kMs, 10'000, 30 * kMs + 10'000, 70 * kMs - 10'000);
  const SignalRow data = signal_row(signal_rows(made.take()), Signal::kData);
  EXPECT_EQ(data.what, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  EXPECT_EQ(data.time.total_ns, 26 * kMs);
  EXPECT_EQ(data.idle_ns, 30 * kMs - (10 * kMs + 10'000));
  ASSERT_EQ(data.longest.size(), 1U);
  EXPECT_EQ(data.longest[0], (Interval{10 * kMs + 10'000, 30 * kMs}));
}

TEST(Signals, WaitingForABusyDeviceCostsNothing) {
  MadeRecording made = step_with_work();
  made.call("cudaStreamSynchronize", 1 * kMs, 9 * kMs + 10'000);  // until the device is done
  made.launch(10 * kMs + 10'000, 10'000, 10 * kMs + 20'000, 70 * kMs);
  const SignalRow sync = signal_row(signal_rows(made.take()), Signal::kSync);
  EXPECT_EQ(sync.time.total_ns, 9 * kMs + 10'000);
  EXPECT_EQ(sync.idle_ns, 0);
  // But the host could have launched 9 ms ahead: the launch itself would not have been waited for.
  EXPECT_EQ(sync.after_ns, 10'000);
}

// XLA's recorder shows no call that waits. The host was inside nothing until the device was
// through.
TEST(Signals, AWaitThatNoRecorderShowsIsToldByItsEnd) {
  MadeRecording made = step_with_work();
  made.launch(kMs / 10, 10'000, 10 * kMs + 10'000, 40 * kMs);
  made.launch(51 * kMs, 10'000, 51 * kMs + 10'000, 40 * kMs);  // as soon as that was through
  const std::vector<SignalRow> rows = signal_rows(made.take());
  EXPECT_GT(idle_of(rows, Signal::kSync), 9 * kMs / 10);
  EXPECT_EQ(idle_of(rows, Signal::kHostCode), 0);
}

TEST(Signals, AHostThatGoesOnLongAfterTheDeviceHasNotWaitedForIt) {
  MadeRecording made = step_with_work();
  made.launch(kMs / 10, 10'000, 10 * kMs + 10'000, 40 * kMs);
  made.launch(70 * kMs, 10'000, 70 * kMs + 10'000, 20 * kMs);
  const std::vector<SignalRow> rows = signal_rows(made.take());
  EXPECT_EQ(idle_of(rows, Signal::kSync), 0);
  EXPECT_GT(idle_of(rows, Signal::kHostCode), 19 * kMs);
}

TEST(Signals, WhatReadsANumberIsTheCauseOfItsCalls) {
  MadeRecording made = step_with_work();
  made.call("aten::item", 10 * kMs, 5 * kMs);
  made.call("aten::_local_scalar_dense", 10 * kMs, 5 * kMs);
  made.call("cudaStreamSynchronize", 11 * kMs, 4 * kMs);
  made.launch(15 * kMs, 10'000, 15 * kMs + 10'000, 80 * kMs);
  const std::vector<SignalRow> rows = signal_rows(made.take());
  EXPECT_EQ(signal_row(rows, Signal::kSync).what, "aten::item");
  EXPECT_EQ(signal_row(rows, Signal::kSync).idle_ns, 15 * kMs - (10 * kMs + 10'000));
}

TEST(Signals, ANumberOfTheHostIsReadWithoutWaiting) {
  MadeRecording made = step_with_work();
  made.call("aten::item", 10 * kMs, 5 * kMs);  // without a call that waits
  made.launch(15 * kMs, 10'000, 15 * kMs + 10'000, 80 * kMs);
  const std::vector<SignalRow> rows = signal_rows(made.take());
  EXPECT_EQ(signal_row(rows, Signal::kSync).time.count, 0);
  // It launches nothing, and no operator takes a millisecond to do so: it works on the host.
  EXPECT_EQ(signal_row(rows, Signal::kHostCode).what, "aten::item");
}

TEST(Signals, TheMostSpecificOfRangesWithinOneAnotherIsTheCause) {
  MadeRecording made = step_with_work();
  made.call("get_batch", 11 * kMs, 20 * kMs);
  made.call("cudaStreamSynchronize", 12 * kMs, 2 * kMs);
  made.call("Python GC", 20 * kMs, 5 * kMs);
  made.launch(31 * kMs, 10'000, 31 * kMs + 10'000, 60 * kMs);
  const std::vector<SignalRow> rows = signal_rows(made.take());
  EXPECT_EQ(idle_of(rows, Signal::kSync), 0);
  EXPECT_EQ(idle_of(rows, Signal::kCollection), 5 * kMs);
  EXPECT_EQ(idle_of(rows, Signal::kData), 15 * kMs);
}

TEST(Signals, AThreadThatStandsStillInACallLostItsCore) {
  MadeRecording made = step_with_work();
  for (std::int64_t i = 1; i <= 20; ++i) {
    made.launch(i * 400'000, 10'000, 11 * kMs + i, 1);
  }
  made.launch(12 * kMs, 25 * kMs, 37 * kMs, 20 * kMs);
  EXPECT_EQ(idle_of(signal_rows(made.take()), Signal::kHeldUp), 25 * kMs);

  MadeRecording loaded = step_with_work();
  loaded.launch(12 * kMs, 25 * kMs, 37 * kMs, 20 * kMs, MadeRecording::kMain,
                {SpanKind::kCompute, "a kernel that never ran before", {}, {}});
  EXPECT_EQ(idle_of(signal_rows(loaded.take()), Signal::kCompilation), 25 * kMs);
}

// What an allocator does that found no room: within one operator it gives back and asks again.
TEST(Signals, AnAllocatorThatFreesInsideAnOperatorHadNoRoom) {
  MadeRecording retried = step_with_work();
  retried.call("aten::empty", 11 * kMs, 9 * kMs);
  retried.call("cudaFree", 12 * kMs, 3 * kMs);
  retried.call("cudaMalloc", 16 * kMs, 2 * kMs);
  retried.launch(20 * kMs, 10'000, 20 * kMs + 10'000, 60 * kMs);
  const std::vector<SignalRow> rows = signal_rows(retried.take());
  EXPECT_EQ(idle_of(rows, Signal::kRetry), 5 * kMs);
  EXPECT_EQ(idle_of(rows, Signal::kAllocation), 0);

  MadeRecording emptied = step_with_work();
  emptied.call("cudaFree", 12 * kMs, 3 * kMs);  // torch.cuda.empty_cache()
  emptied.call("aten::empty", 15 * kMs, 3 * kMs);
  emptied.call("cudaMalloc", 16 * kMs, 2 * kMs);
  emptied.launch(20 * kMs, 10'000, 20 * kMs + 10'000, 60 * kMs);
  EXPECT_EQ(idle_of(signal_rows(emptied.take()), Signal::kAllocation), 5 * kMs);
}

TEST(Signals, ACopyThatNothingHidesBelongsToWhatAskedForIt) {
  MadeRecording made = step_with_work();
  made.call("aten::to", 11 * kMs, 9 * kMs);
  made.call("aten::copy_", 11 * kMs, 9 * kMs);
  made.launch(12 * kMs, 5 * kMs, 13 * kMs, 4 * kMs, MadeRecording::kMain, kPageableIn);
  made.launch(20 * kMs, 10'000, 20 * kMs + 10'000, 60 * kMs);
  const SignalRow copy = signal_row(signal_rows(made.take()), Signal::kCopyIn);
  EXPECT_EQ(copy.what, "aten::to");
  EXPECT_EQ(copy.copy_ns, 4 * kMs);
  EXPECT_EQ(copy.bytes, 4 << 20);
  // From 11 to 13 and from 17 to 20 ms the device waits for it.
  EXPECT_EQ(copy.idle_ns, 5 * kMs);
}

TEST(Signals, TimeInsideNothingIsToldByTheMarksOfSteps) {
  MadeRecording made;
  for (std::int64_t i = 0; i < 2; ++i) {
    made.step(i, i * kLongStep, (i + 1) * kLongStep);
    made.launch(i * kLongStep + 20 * kMs, 10'000, i * kLongStep + 20 * kMs + 10'000, 10 * kMs);
    made.launch(i * kLongStep + 50 * kMs, 10'000, i * kLongStep + 50 * kMs + 10'000, 20 * kMs);
  }
  const std::vector<SignalRow> rows = signal_rows(made.take());
  // Each twice: from the mark to the first operator, between, after the last.
  EXPECT_EQ(idle_of(rows, Signal::kStepStart), 2 * 20 * kMs);
  EXPECT_EQ(idle_of(rows, Signal::kHostCode), 2 * (20 * kMs - 10'000));
  EXPECT_EQ(idle_of(rows, Signal::kStepEnd), 2 * (30 * kMs - 10'000));
}

TEST(Signals, AThreadThatWaitsForAnotherIsNotItsCause) {
  MadeRecording made = step_with_work();
  timeline::Timeline& timeline = made.recording().timeline;
  const timeline::LaneId other = timeline.lane(RankId{0}, {200}, {}, timeline::Place::kHost);
  // Another thread, which launches too, waits for the device all along; this one loads data.
  timeline.add(other, timeline.label({SpanKind::kHost, "cudaStreamSynchronize", {}, {}}), 11 * kMs,
               80 * kMs);
  timeline.add(other,
               {.label = timeline.label({SpanKind::kHost, "cudaLaunchKernel", {}, {}}),
                .correlation = timeline::CorrelationId{900}},
               95 * kMs, 10'000);
  made.work(kOut, 96 * kMs, 10'000, MadeRecording::kSide, timeline::CorrelationId{900});
  made.call("get_batch", 11 * kMs, 29 * kMs);
  made.launch(40 * kMs, 10'000, 40 * kMs + 10'000, 10 * kMs);
  EXPECT_EQ(idle_of(signal_rows(made.take()), Signal::kData), 29 * kMs);
}

TEST(Signals, AFunctionThatTakesHalfOfTheTimeGivesItItsName) {
  MadeRecording made = step_with_work();
  made.call("train.py(10): step", 0, 40 * kMs);
  made.call("train.py(20): tokenize", 12 * kMs, 15 * kMs);
  made.call("<built-in function len>", 13 * kMs, 1000);
  made.call("aten::add", 30 * kMs, 20'000);
  made.launch(30 * kMs, 10'000, 30 * kMs + 10'000, 60 * kMs);
  EXPECT_GT(
      signal_row(signal_rows(made.take()), Signal::kHostCode, "train.py(20): tokenize").idle_ns,
      19 * kMs);
}

TEST(Signals, AnOptimizerThatLaunchesNothingRunsOnTheHost) {
  MadeRecording made = step_with_work();
  made.host({SpanKind::kMark, "Optimizer.step#AdamW.step", {}, {}}, 11 * kMs, 30 * kMs);
  made.call("aten::_fused_adamw_", 12 * kMs, 28 * kMs);
  made.launch(50 * kMs, 10'000, 50 * kMs + 10'000, 20 * kMs);
  EXPECT_EQ(idle_of(signal_rows(made.take()), Signal::kHostUpdate), 30 * kMs);
}

TEST(Signals, LateLaunchesOfAnOptimizerAreItsOwn) {
  MadeRecording made = step_with_work();
  made.host({SpanKind::kMark, "Optimizer.step#AdamW.step", {}, {}}, 11 * kMs, 30 * kMs);
  for (std::int64_t i = 0; i < 50; ++i) {
    made.launch(12 * kMs + i * 500'000, 10'000, 12 * kMs + i * 500'000 + 15'000, 5'000);
  }
  made.launch(41 * kMs + 500'000, 10'000, 41 * kMs + 515'000, 20 * kMs);
  const std::vector<SignalRow> rows = signal_rows(made.take());
  // 49 times from the end of a kernel to the end of the next call.
  EXPECT_GE(signal_row(rows, Signal::kDispatch, "Optimizer.step#AdamW.step").idle_ns, 49 * 490'000);
  EXPECT_EQ(signal_row(rows, Signal::kLatency, "Optimizer.step#AdamW.step").idle_ns, 50 * 5'000);
}

// Whatever happens, no moment of idle time has two causes.
RC_GTEST_PROP(Signals, AreNeverMoreThanTheIdleTime, ()) {
  MadeRecording made;
  const std::vector<std::string> names{"aten::item",     "cudaStreamSynchronize",
                                       "get_batch",      "cudaMalloc",
                                       "cudaFree",       "aten::mm",
                                       "Python GC",      "a.py(1): f",
                                       "save_checkpoint"};
  for (std::int64_t step = 0; step < 4; ++step) {
    made.step(step, step * kLongStep, (step + 1) * kLongStep);
    std::int64_t at = step * kLongStep;
    const int calls = *rc::gen::inRange(1, 12);
    for (int i = 0; i < calls; ++i) {
      made.call(names[*rc::gen::inRange<std::size_t>(0, names.size())], at,
                *rc::gen::inRange<std::int64_t>(0, 6 * kMs));
      at += *rc::gen::inRange<std::int64_t>(0, 4 * kMs);
      made.launch(at, 5'000, at + *rc::gen::inRange<std::int64_t>(0, 3 * kMs), 2 * kMs,
                  *rc::gen::element(MadeRecording::kMain, MadeRecording::kSide));
      at += 5'000;
    }
  }
  const RankMeasures rank = measure(made.take()).at(0);
  const RankTotals total = totals(rank);
  std::int64_t idle = 0;
  std::int64_t after = 0;
  std::int64_t dispatch = 0;
  for (const SignalRow& row : rank.signals) {
    idle += row.idle_ns;
    after += row.after_ns;
    dispatch += row.signal == Signal::kDispatch || row.signal == Signal::kPython ||
                        row.signal == Signal::kLatency
                    ? row.idle_ns
                    : 0;
    RC_ASSERT(row.longest.size() <= kMostMoments);
  }
  RC_ASSERT(idle <= total.time.idle_ns);
  RC_ASSERT(after <= dispatch);
}

}  // namespace
}  // namespace sextant::metrics
