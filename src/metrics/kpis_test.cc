#include "metrics/kpis.h"

#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "metrics/recording_testing.h"

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::Recording;
using timeline::SpanKind;

Label operation(const std::string& name, std::optional<Bytes> bytes, std::optional<Flops> flops) {
  return {SpanKind::kCompute, name, bytes, flops, {}, timeline::Operation{.name = name}};
}

// One step of 1 us: 400 ns of 4e8 FLOPs on 1e6 bytes, 200 ns of 2e5 FLOPs on 2e8 bytes.
Recording two_operators() {
  MadeRecording made;
  made.step(0, 0, 1000);
  made.work(operation("matmul", Bytes(1e6), Flops(4e8)), 0, 400);
  made.work(operation("softmax", Bytes(2e8), Flops(2e5)), 400, 200);
  const Label reduce = all_reduce_label(made.recording(), 1_MiB, 8);
  made.work(reduce, 600, 100);
  return made.take();
}

// Peaks of 2e15 FLOP/s and 2e15 B/s: 0.2 us and 0.1 us would do.
const DevicePeaks kPeaks{FlopsPerSecond(2e15), BytesPerSecond(2e15), std::nullopt};

TEST(Kpis, AreSharesOfTheStepAndOfThePeaks) {
  const Kpis answer = kpis(measure(two_operators()).at(0), kPeaks, Flops(1e9)).value();
  EXPECT_NEAR(answer.step / 1_ns, 1000, 1e-9);
  EXPECT_NEAR(answer.duty_cycle, 0.7, 1e-12);
  EXPECT_NEAR(answer.flops_utilisation.value(), 4.002e8 / 2e15 / 1e-6, 1e-12);
  EXPECT_NEAR(answer.memory_utilisation.value(), (2.01e8 + 1048576) / 2e15 / 1e-6, 1e-9);
  EXPECT_NEAR(answer.mfu.value(), 0.5, 1e-12);
  EXPECT_NEAR(answer.mean_all_reduce.value() / 1_ns, 100, 1e-9);
  EXPECT_NEAR(answer.all_reduce_share.value(), 0.1, 1e-12);
  EXPECT_NEAR(answer.communication_share, 0.1, 1e-12);
  // Ideal 200 and 100 ns, the all-reduce as it was.
  EXPECT_NEAR(answer.goodput.value(), 0.4, 1e-9);
}

TEST(Kpis, OfAnUnknownDeviceStayUnknown) {
  const Kpis answer = kpis(measure(two_operators()).at(0), {}, Flops(1e9)).value();
  EXPECT_FALSE(answer.flops_utilisation);
  EXPECT_FALSE(answer.memory_utilisation);
  EXPECT_FALSE(answer.mfu);
  EXPECT_FALSE(answer.goodput);
}

TEST(TopOperators, AreBoundByTheNearerRoof) {
  const auto top = top_operators(measure(two_operators()).at(0), kPeaks, 2);
  ASSERT_EQ(top.size(), 2U);
  EXPECT_EQ(top[0].name, "matmul");
  EXPECT_EQ(top[0].bound, OperatorBound::kCompute);
  EXPECT_NEAR(top[0].efficiency.value(), 0.5, 1e-9);
  EXPECT_NEAR(top[0].wasted.value() / 1_ns, 200, 1e-9);
  EXPECT_NEAR(top[0].share, 400.0 / 700.0, 1e-12);
  EXPECT_EQ(top[1].bound, OperatorBound::kMemory);
  EXPECT_EQ(top_operators(measure(two_operators()).at(0), {}, 1).at(0).bound,
            OperatorBound::kUnknown);
}

std::int64_t category_of(const CategoryTimes& times, StepCategory category) {
  return times[static_cast<std::size_t>(category)];
}

std::vector<CategoryTimes> categories_of(const View& view, const std::vector<Interval>& windows) {
  const RankLanes& rank = view.ranks.at(0);
  const Activity activity = activity_of(view, rank);
  return step_categories(view, rank, activity, device_idle(view, rank, activity, windows), windows);
}

TEST(StepCategories, SayWhatTheDeviceDidOrWaitedFor) {
  MadeRecording made;
  made.host(
      {SpanKind::kHost, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", {}, {}}, 0,
      40);
  made.launch(50, 10, 65, 20, MadeRecording::kMain, {SpanKind::kCopy, "Memcpy HtoD", {}, {}});
  made.launch(61, 2, 90, 30);
  const Recording recording = made.take();
  const View view = view_of(recording);
  const CategoryTimes times = categories_of(view, {{0, 120}}).at(0);
  EXPECT_EQ(category_of(times, StepCategory::kInput), 40 + 20);
  EXPECT_EQ(category_of(times, StepCategory::kHost), 10);
  EXPECT_EQ(category_of(times, StepCategory::kLaunch), 10);
  EXPECT_EQ(category_of(times, StepCategory::kCompute), 30);
  EXPECT_EQ(category_of(times, StepCategory::kOther), 5 + 5);
}

RC_GTEST_PROP(StepCategories, AddUpToTheStep, ()) {
  MadeRecording made;
  const std::vector<Label> labels{{SpanKind::kCompute, "gemm", {}, {}},
                                  {SpanKind::kCommunication, "nccl", {}, {}},
                                  {SpanKind::kCopy, "Memcpy DtoH", {}, {}}};
  for (int i = 0; i < 20; ++i) {
    const auto call = *rc::gen::inRange<std::int64_t>(0, 900);
    made.launch(call, *rc::gen::inRange<std::int64_t>(0, 30),
                call + *rc::gen::inRange<std::int64_t>(0, 90),
                *rc::gen::inRange<std::int64_t>(0, 80), *rc::gen::inRange<std::int64_t>(0, 3),
                *rc::gen::elementOf(labels));
    made.host({SpanKind::kHost, "DataLoader", {}, {}}, call, i);
  }
  const Recording recording = made.take();
  const View view = view_of(recording);
  for (const CategoryTimes& times : categories_of(view, {{0, 300}, {300, 500}, {600, 1000}})) {
    const std::int64_t sum = std::accumulate(times.begin(), times.end(), std::int64_t{0});
    RC_ASSERT(sum == 300 || sum == 200 || sum == 400);
    RC_ASSERT(std::all_of(times.begin(), times.end(), [](std::int64_t time) { return time >= 0; }));
  }
}

}  // namespace
}  // namespace sextant::metrics
