#include "explain/collective_view.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace sextant::explain {
namespace {

// 10 us and 90 us: 1 MiB over 8 ranks, whose intervals reach from half to twice.
machine::CollectiveEstimate estimate(Bytes bytes = 1_MiB) {
  machine::CollectiveEstimate made;
  made.bytes = bytes;
  made.group = {8, 2, 4, 1};
  made.ways = {{"tree", "simple", "network", 40_GBps, 10_us, 80_us, 10_us},
               {"ring", "ll", "scale-up", 60_GBps, 20_us, 180_us, 0_us}};
  made.time = 100_us;
  made.bus = 20_GBps;
  made.algorithm = 10_GBps;
  made.best_rate = 60_GBps;
  made.spread = 2.0;
  made.links = "nvlink4";
  made.network = "ib";
  return made;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CollectiveView, SaysTimeBandwidthWayAndLimit) {
  CollectiveAnswer answer;
  answer.cluster = "two hosts";
  answer.estimate = estimate();
  answer.assumed = {{"bytes", "1 MiB", "not given", {}}};
  const std::string text = to_text(answer, {});
  for (const char* part :
       {"all_reduce of 1 MiB over 8 ranks in 2 domains of two hosts: 100 us (50 us to 200 us)",
        "bus bandwidth 20 GB/s (10 GB/s to 40 GB/s), algorithm bandwidth 10 GB/s",
        "tree, simple, limited by network at 40 GB/s", "latency", "80.0 %", "ring",
        "assumed: bytes: 1 MiB (not given)"}) {
    EXPECT_TRUE(says(text, part)) << part << "\n" << text;
  }
  EXPECT_FALSE(says(text, "source"));
}

TEST(CollectiveView, ConstantsStandInTextOnlyWhereAskedFor) {
  CollectiveAnswer answer;
  answer.estimate = estimate();
  answer.constants = {{"comm/links/nvlink4.toml",
                       "simple.hop",
                       describe::CommUnit::kTime,
                       {2e-6, describe::SourceKind::kFitted, "a fit"}}};
  EXPECT_FALSE(says(to_text(answer, {}), "a fit"));
  EXPECT_TRUE(says(to_text(answer, {.format = Format::kJson}), "\"value_s\": 2e-06"));
  answer.show_constants = true;
  EXPECT_TRUE(says(to_text(answer, {}), "2 us"));
  EXPECT_TRUE(says(to_text(answer, {}), "a fit"));
}

TEST(CollectiveView, OneRankHasNoBandwidth) {
  CollectiveAnswer answer;
  answer.cluster = "one";
  answer.estimate.bytes = 1_GiB;
  EXPECT_TRUE(says(to_text(answer, {}), "over 1 rank in 1 domain of one: nothing is sent"));
  EXPECT_TRUE(says(to_text(answer, {.format = Format::kJson}), "\"bus_bandwidth_GBps\": null"));
}

CollectiveSweepAnswer sweep(const std::string& factor) {
  CollectiveSweepAnswer answer;
  answer.cluster = "two hosts";
  answer.factor = factor;
  answer.held = "all_reduce over 8 ranks";
  answer.points = {{"1 MiB", estimate(), ""},
                   {"4 MiB", estimate(4_MiB), ""},
                   {"8 MiB", std::nullopt, "too many"}};
  return answer;
}

TEST(CollectiveSweepView, ShowsShareOfTheBestRateAndReasons) {
  const std::string text = to_text(sweep("bytes"), {});
  EXPECT_TRUE(says(text, "33.3"));  // 20 of 60 GB/s
  EXPECT_TRUE(says(text, "tree/simple"));
  EXPECT_TRUE(says(text, "50 us to 200 us"));
  EXPECT_TRUE(says(text, "not possible: too many"));
  EXPECT_FALSE(says(text, "measured"));
}

TEST(CollectiveSweepView, LaysMeasuredRunsBesideSizes) {
  CollectiveSweepAnswer answer = sweep("bytes");
  answer.measured = {{"run", "machine", {{1_MiB, 18_GBps}, {1_MiB, 19_GBps}}, {}}};
  const std::string text = to_text(answer, {});
  EXPECT_TRUE(says(text, "18 to 19")) << text;
  EXPECT_TRUE(says(text, "measured: run, machine"));
  const std::string svg = to_svg(to_drawing(answer));
  for (const char* part : {">predicted</text>", ">nvlink4, ib</text>", ">run</text>",
                           ">machine</text>", "all_reduce over 8 ranks, two hosts"}) {
    EXPECT_TRUE(says(svg, part)) << part;
  }
}

TEST(CollectiveSweepView, OtherFactorsAreBarsWithIntervals) {
  const Drawing drawing = to_drawing(sweep("ranks"));
  const auto has = [&](const std::string& text) {
    return std::any_of(drawing.labels.begin(), drawing.labels.end(),
                       [&](const Label& label) { return label.text == text; });
  };
  EXPECT_TRUE(has("not possible"));
  EXPECT_TRUE(has("20"));
  EXPECT_TRUE(has("40"));  // the scale's end: an interval reaches it
  EXPECT_FALSE(has("50"));
  // Two bars, two strokes, two sides of the frame.
  EXPECT_EQ(drawing.rectangles.size(), 6U);
  EXPECT_FALSE(to_svg(to_drawing({})).empty());
}

}  // namespace
}  // namespace sextant::explain
