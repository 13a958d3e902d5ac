#include "timeline/launches.h"

#include <optional>
#include <tuple>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sextant::timeline {

void PrintTo(const Launch& launch, std::ostream* out) {
  *out << launch.call << " -> " << launch.started;
}

namespace {

// Calls on stream 100, kernels on stream 7.
class Launching {
 public:
  void call(std::int64_t rank, std::int64_t correlation, std::int64_t start, std::int64_t length) {
    add({SpanKind::kHost, "cudaLaunchKernel", {}, {}}, timeline.lane({rank}, {100}), correlation,
        start, length);
  }
  void kernel(std::int64_t rank, std::int64_t correlation, std::int64_t start) {
    add({SpanKind::kCompute, "gemm", {}, {}}, timeline.lane({rank}, {7}), correlation, start, 10);
  }
  Timeline timeline;

 private:
  void add(const Label& label, LaneId lane, std::int64_t correlation, std::int64_t start,
           std::int64_t length) {
    timeline.add(lane, {.label = timeline.label(label), .correlation = CorrelationId{correlation}},
                 start, length);
  }
};

using Pairs = std::vector<Launch>;

TEST(Launches, NothingStartsNothing) {
  EXPECT_TRUE(launches({}).empty());
}

TEST(Launches, WithoutItsOtherEndThereIsNone) {
  Launching one;
  one.call(0, 1, 0, 5);
  one.kernel(0, 2, 10);
  EXPECT_TRUE(launches(one.timeline).empty());
}

TEST(Launches, ASequenceNumberIsNoCorrelation) {
  Launching one;
  one.call(0, 0, 0, 5);
  const LabelId gemm = one.timeline.label({SpanKind::kCompute, "gemm", {}, {}});
  one.timeline.add(one.timeline.lane({0}, {7}), {.label = gemm, .sequence = SequenceNumber{0}}, 9,
                   1);
  EXPECT_TRUE(launches(one.timeline).empty());
}

TEST(Launches, AGraphStartsSeveral) {
  Launching one;
  one.kernel(0, 1, 10);
  one.call(0, 1, 0, 5);
  one.kernel(0, 1, 20);
  EXPECT_EQ(launches(one.timeline), (Pairs{{1, 0}, {1, 2}}));
}

TEST(Launches, AnotherRanksCorrelationIsAnotherOne) {
  Launching one;
  one.call(0, 1, 0, 5);
  one.call(3, 1, 0, 5);
  one.kernel(3, 1, 10);
  one.kernel(0, 1, 10);
  EXPECT_EQ(launches(one.timeline), (Pairs{{1, 2}, {0, 3}}));
}

// A runtime call and the driver's call that it makes.
TEST(Launches, OfNestedCallsItIsTheOutermost) {
  Launching one;
  one.call(0, 1, 5, 4);
  one.call(0, 1, 5, 10);
  one.call(0, 1, 6, 20);
  one.kernel(0, 1, 30);
  EXPECT_EQ(launches(one.timeline), (Pairs{{1, 3}}));
}

// Each span against each other.
Pairs searched_launches(const Timeline& timeline) {
  const auto spans = timeline.spans();
  const auto is_host = [&](const Span& span) {
    return timeline.label_of(span).kind == SpanKind::kHost;
  };
  Pairs pairs;
  for (std::uint32_t i = 0; i < spans.size(); ++i) {
    std::optional<std::uint32_t> call;
    for (std::uint32_t j = 0; j < spans.size(); ++j) {
      if (!is_host(spans[i]) && is_host(spans[j]) &&
          timeline.lane_of(spans[i]).rank == timeline.lane_of(spans[j]).rank &&
          timeline.occurrence_of(spans[i]).correlation ==
              timeline.occurrence_of(spans[j]).correlation &&
          (!call || std::tuple(spans[j].start_ns, -spans[j].duration_ns) <
                        std::tuple(spans[*call].start_ns, -spans[*call].duration_ns))) {
        call = j;
      }
    }
    if (call) {
      pairs.push_back({*call, i});
    }
  }
  return pairs;
}

RC_GTEST_PROP(LaunchLaws, AreWhatSearchingEachSpanFinds, ()) {
  Launching one;
  const auto number = [](int end) { return static_cast<std::int64_t>(*rc::gen::inRange(0, end)); };
  for (std::int64_t i = number(40); i > 0; --i) {
    const std::int64_t rank = number(3);
    const std::int64_t correlation = number(6) - 2;
    if (number(2) == 0) {
      one.call(rank, correlation, number(20), number(5));
    } else {
      one.kernel(rank, correlation, number(20));
    }
  }
  RC_ASSERT(launches(one.timeline) == searched_launches(one.timeline));
  one.timeline.sort();
  RC_ASSERT(launches(one.timeline) == searched_launches(one.timeline));
}

}  // namespace
}  // namespace sextant::timeline
