#include "metrics/recorder_cost.h"

#include <gtest/gtest.h>

#include "metrics/measure.h"
#include "metrics/recording_testing.h"

namespace sextant::metrics {
namespace {

constexpr std::int64_t kUs = 1'000;

// Two marked steps in which the device waits for each launch: an operator that calls another at
// once and launches, every 50 us; `gap_ns`: from its start to that of the one it calls.
timeline::Recording launches(std::int64_t gap_ns, int calls_a_step, bool nests = true) {
  MadeRecording made;
  const std::int64_t step = calls_a_step * 50 * kUs;
  for (std::int64_t number = 0; number < 2; ++number) {
    made.step(number, number * step, (number + 1) * step);
    for (std::int64_t i = 0; i < calls_a_step; ++i) {
      const std::int64_t at = number * step + i * 50 * kUs;
      made.call("aten::linear", at, 40 * kUs);
      if (nests) {
        made.call("aten::addmm", at + gap_ns, 35 * kUs);
      }
      made.launch(at + 20 * kUs, 5 * kUs, at + 26 * kUs, 10 * kUs);
    }
  }
  return made.take();
}

std::int64_t idle_for(const timeline::Recording& recording, Signal signal) {
  std::int64_t idle = 0;
  const std::vector<RankMeasures> ranks = measure(recording);
  for (const SignalRow& row : ranks.at(0).signals) {
    idle += row.signal == signal ? row.idle_ns : 0;
  }
  return idle;
}

TEST(RecorderCost, FewCallsTellNothing) {
  EXPECT_EQ(idle_for(launches(2 * kUs, 20), Signal::kRecorder), 0);
}

TEST(RecorderCost, OperatorsThatCallNoOtherTellNothing) {
  EXPECT_EQ(idle_for(launches(2 * kUs, 200, false), Signal::kRecorder), 0);
}

// Two operators every 50 us, each recorded at its start and its end: 2 x 2 x 2 us of 40 idle ones.
TEST(RecorderCost, IdleTimeThatRecordingCostsIsTheRecorders) {
  const timeline::Recording recording = launches(2 * kUs, 200);
  const double a_call = static_cast<double>(idle_for(recording, Signal::kRecorder)) / 400.0;
  EXPECT_NEAR(a_call, 8.0 * kUs, 0.2 * kUs);
}

TEST(RecorderCost, AllIdleTimeIsKeptAndCountedOnce) {
  const auto all = [](const timeline::Recording& recording) {
    std::int64_t idle = 0;
    const std::vector<RankMeasures> ranks = measure(recording);
    for (const SignalRow& row : ranks.at(0).signals) {
      idle += row.idle_ns;
    }
    return idle;
  };
  EXPECT_EQ(all(launches(2 * kUs, 200)), all(launches(3 * kUs, 200)));
  EXPECT_LT(idle_for(launches(2 * kUs, 200), Signal::kDispatch),
            idle_for(launches(1 * kUs, 200), Signal::kDispatch));
}

}  // namespace
}  // namespace sextant::metrics
