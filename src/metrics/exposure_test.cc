#include "metrics/exposure.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "metrics/recording_testing.h"

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::SpanKind;

struct Message {
  std::int64_t start = 0;
  std::int64_t takes = 0;
  std::int64_t group = 0;
};

// What each has to itself, of messages and compute of one rank; every message on its own stream.
std::vector<std::int64_t> alone_of(const std::vector<Message>& messages,
                                   const std::vector<Interval>& compute) {
  MadeRecording made;
  for (const Interval& one : compute) {
    made.work({SpanKind::kCompute, "gemm", {}, {}}, one.start_ns, one.length_ns());
  }
  std::int64_t stream = MadeRecording::kSide;
  for (const Message& one : messages) {
    Label label = all_reduce_label(made.recording(), 1_MiB, 8);
    label.collective->group = made.recording().timeline.group({.name = std::to_string(one.group)});
    made.work(label, one.start, one.takes, stream++);
  }
  const timeline::Recording recording = made.take();
  const View view = view_of(recording);
  std::vector<std::uint32_t> spans;
  for (const timeline::Span& span : view.timeline().spans()) {
    if (view.timeline().label_of(span).kind == SpanKind::kCommunication) {
      spans.push_back(view.number_of(span));
    }
  }
  std::ranges::stable_sort(spans, {},
                           [&](std::uint32_t i) { return view.timeline().spans()[i].start_ns; });
  return times_alone(view, view.ranks.at(0), activity_of(view, view.ranks.at(0)), spans);
}

TEST(Exposure, OfOneMessageIsWhatComputeLeaves) {
  // Compute of which no call is known follows as soon as it can.
  EXPECT_EQ(alone_of({{100, 100, 1}}, {{0, 130}, {180, 300}}), std::vector<std::int64_t>{50});
  EXPECT_EQ(alone_of({{100, 100, 1}}, {{0, 300}}), std::vector<std::int64_t>{0});
}

// From 130 to 200 nothing computes; what comes next was launched at 170.
TEST(Exposure, BeginsWhenThereIsSomethingToDo) {
  MadeRecording made;
  made.launch(0, 5, 10, 120);
  made.launch(20, 5, 100, 100, MadeRecording::kSide, all_reduce_label(made.recording(), 1_MiB, 8));
  made.launch(170, 5, 200, 50);
  const timeline::Recording recording = made.take();
  const View view = view_of(recording);
  const auto alone = [&](const View& of) {
    for (const timeline::Span& span : of.timeline().spans()) {
      if (of.timeline().label_of(span).kind == SpanKind::kCommunication) {
        return times_alone(of, of.ranks.at(0), activity_of(of, of.ranks.at(0)),
                           {of.number_of(span)})
            .at(0);
      }
    }
    return std::int64_t{-1};
  };
  EXPECT_EQ(alone(view), 30);
  // A host that waits for the device would have gone on.
  MadeRecording waits;
  waits.launch(0, 5, 10, 120);
  waits.launch(20, 5, 100, 100, MadeRecording::kSide,
               all_reduce_label(waits.recording(), 1_MiB, 8));
  waits.call("cudaStreamSynchronize", 140, 60);
  waits.launch(205, 5, 215, 50);
  const timeline::Recording blocked = waits.take();
  EXPECT_EQ(alone(view_of(blocked)), 60);
}

TEST(Exposure, OfTwoGroupsAtOnceIsNobodys) {
  EXPECT_EQ(alone_of({{0, 100, 1}, {60, 100, 2}}, {{1500, 1600}}),
            (std::vector<std::int64_t>{60, 60}));
}

TEST(Exposure, OfOneGroupTwiceIsThatWhichBeganFirst) {
  EXPECT_EQ(alone_of({{0, 100, 1}, {60, 100, 1}}, {{1500, 1600}}),
            (std::vector<std::int64_t>{100, 60}));
}

// Nobody's moments are all that lacks: with one group the sum is the exposed time.
RC_GTEST_PROP(Exposure, OfOneGroupAddsUpToExposedCommunication, ()) {
  const auto at = rc::gen::inRange<std::int64_t>(0, 1000);
  std::vector<Message> messages;
  std::vector<Interval> compute;
  const auto groups = *rc::gen::inRange<std::int64_t>(1, 3);
  for (int i = 0; i < 12; ++i) {
    messages.push_back(
        {*at, *rc::gen::inRange<std::int64_t>(0, 90), *rc::gen::inRange<std::int64_t>(0, groups)});
    const std::int64_t from = *at;
    compute.push_back({from, from + *rc::gen::inRange<std::int64_t>(1, 60)});
  }
  compute.push_back({1'200, 1'300});  // after all messages: something always is to be done
  const std::vector<std::int64_t> alone = alone_of(messages, compute);
  std::vector<Interval> all;
  for (const Message& one : messages) {
    all.push_back({one.start, one.start + one.takes});
  }
  const std::int64_t exposed = length_ns(difference(united(all), united(compute)));
  const std::int64_t sum = std::accumulate(alone.begin(), alone.end(), std::int64_t{0});
  RC_ASSERT(sum <= exposed);
  RC_ASSERT(groups > 1 || sum == exposed);
}

}  // namespace
}  // namespace sextant::metrics
