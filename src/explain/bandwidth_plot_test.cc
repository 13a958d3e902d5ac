#include "explain/bandwidth_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "explain/drawing_testing.h"

namespace sextant::explain {
namespace {

std::vector<std::string> tick_texts(const PlotAxis& axis) {
  std::vector<std::string> texts;
  for (const Tick& tick : axis.ticks) {
    texts.push_back(tick.text);
  }
  return texts;
}

// Marks of a series: its squares but for the one in the legend, which is larger.
std::size_t marks(const Drawing& drawing) {
  return static_cast<std::size_t>(
      std::count_if(drawing.rectangles.begin(), drawing.rectangles.end(),
                    [](const Rectangle& one) { return one.width == 5.0 && one.height == 5.0; }));
}

TEST(BytesAxis, EndsArePowersOfTwo) {
  const PlotAxis axis = bytes_axis(3_KiB, 100_KiB);
  EXPECT_EQ(axis.low, 2048.0);
  EXPECT_EQ(axis.high, 131072.0);
  EXPECT_EQ(tick_texts(axis), (std::vector<std::string>{"2 KiB", "4 KiB", "8 KiB", "16 KiB",
                                                        "32 KiB", "64 KiB", "128 KiB"}));
}

TEST(BytesAxis, LongOnesHaveFewerTicks) {
  EXPECT_EQ(tick_texts(bytes_axis(8_B, 16_GiB)),
            (std::vector<std::string>{"32 B", "1 KiB", "32 KiB", "1 MiB", "32 MiB", "1 GiB"}));
  for (int low = 0; low < 50; ++low) {
    const double least = 1.3 * std::exp2(low);
    for (int high = low; high < 59; high += 3) {
      const double most = 1.7 * std::exp2(high);
      const PlotAxis axis = bytes_axis(Bytes(least), Bytes(most));
      EXPECT_LE(axis.ticks.size(), 9U) << least << " " << most;
      EXPECT_GE(axis.ticks.size(), 1U) << least << " " << most;
      EXPECT_GE(axis.share(least), -1e-9);
      EXPECT_LE(axis.share(most), 1.0 + 1e-9);
    }
  }
}

TEST(BytesAxis, OneSizeStandsInTheMiddle) {
  const PlotAxis axis = bytes_axis(1_MiB, 1_MiB);
  EXPECT_NEAR(axis.share(1048576.0), 0.5, 1e-12);
  EXPECT_EQ(bytes_axis(1_B, 1_B).low, 1.0);
}

TEST(BandwidthPlot, PointsAreSquaresAndLinesJoinPredictions) {
  BandwidthSeries series{"all-reduce, 8 ranks", "HGX", {}, {}};
  series.measured = {{1_MiB, 10_GBps}, {1_GiB, 100_GBps}};
  series.predicted = {{1_GiB, 110_GBps}, {1_MiB, 9_GBps}, {32_MiB, 50_GBps}};
  const Drawing drawing = bandwidth_drawing({"b", "Two nodes", "bus bandwidth", {series}});
  const Drawing without =
      bandwidth_drawing({"b", "Two nodes", "bus bandwidth", {{"", "", series.predicted, {}}}});
  EXPECT_EQ(marks(drawing), 2U);
  EXPECT_EQ(drawing.polygons.size(), without.polygons.size() + 2);
  EXPECT_TRUE(has_label(drawing, "Two nodes: bus bandwidth by size"));
  EXPECT_TRUE(has_label(drawing, "bus bandwidth (GB/s)"));
  EXPECT_TRUE(has_label(drawing, "all-reduce, 8 ranks"));
  EXPECT_TRUE(has_label(drawing, "HGX"));
  EXPECT_TRUE(has_label(drawing, "1 GiB"));
  EXPECT_EQ(to_svg(drawing),
            to_svg(bandwidth_drawing({"b", "Two nodes", "bus bandwidth", {series}})));
}

TEST(BandwidthPlot, WhatHasNoPlaceIsLeftOut) {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  BandwidthSeries series{"a", "", {}, {}};
  series.measured = {{0_B, 1_GBps}, {1_MiB, 0_GBps}, {1_MiB, BytesPerSecond(nothing)}};
  series.predicted = series.measured;
  EXPECT_EQ(marks(bandwidth_drawing({"b", "t", "q", {series}})), 0U);
  EXPECT_GT(bandwidth_drawing({"b", "t", "q", {}}).labels.size(), 0U);
}

TEST(BandwidthPlot, EverythingDrawnIsInsideThePicture) {
  BandwidthSeries series{"a", "b", {}, {}};
  for (int power = 3; power < 34; ++power) {
    const double bytes = std::exp2(power);
    series.measured.push_back({Bytes(bytes), BytesPerSecond(bytes * 1e3)});
    series.predicted.push_back({Bytes(bytes), BytesPerSecond(bytes * 5e2)});
  }
  const Drawing drawing =
      bandwidth_drawing({"b", "t", "q", std::vector<BandwidthSeries>(9, series)});
  for (const Polygon& polygon : drawing.polygons) {
    for (const Point& corner : polygon.corners) {
      EXPECT_TRUE(corner.x >= 0.0 && corner.x <= drawing.width);
      EXPECT_TRUE(corner.y >= 0.0 && corner.y <= drawing.height);
    }
  }
  for (const Label& label : drawing.labels) {
    EXPECT_LE(label.y, drawing.height);
  }
}

}  // namespace
}  // namespace sextant::explain
