#include "explain/validation_plot.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "explain/drawing_testing.h"
#include "explain/plot_cells.h"

namespace sextant::explain {
namespace {

constexpr int kFrame = 480;

std::int64_t points_in(const PlotCells& cells) {
  return std::accumulate(cells.cells.begin(), cells.cells.end(), std::int64_t{0},
                         [](std::int64_t sum, const PlotCell& cell) { return sum + cell.points; });
}

PlotPoint point(double measured, double predicted) {
  return {measured, predicted, (predicted - measured) / measured};
}

// `rows` points over five decades, errors from −30 % to +30 %.
ValidationPlot plot_of(int rows) {
  ValidationPlot plot{"kernels", "Kernels", "time", "µs", {{"gemm", {}}, {"bmm", {}}}};
  for (int i = 0; i < rows; ++i) {
    const double measured = std::pow(10.0, 5.0 * i / rows);
    const double factor = 0.7 + 0.6 * static_cast<double>(i * 37 % 101) / 100.0;
    plot.series[i % 10 == 0 ? 1 : 0].points.push_back(point(measured, measured * factor));
  }
  return plot;
}

TEST(PlotCells, NoPointsNoCells) {
  EXPECT_TRUE(plot_cells({}, kFrame).cells.empty());
}

TEST(PlotCells, ManyPointsInFewCells) {
  const std::vector<PlacedPoint> points(10'000, {0.25, 0.75, 0});
  const PlotCells cells = plot_cells(points, kFrame);
  ASSERT_EQ(cells.cells.size(), 1U);
  EXPECT_EQ(cells.cells[0].points, 10'000);
  EXPECT_EQ(cells.cells[0].column, kFrame / 4 / cells.side);
  EXPECT_EQ(cells.clipped, 0);
}

TEST(PlotCells, NoneIsLostAndThereAreNeverTooMany) {
  for (const int side : {1, 10, 40, 300}) {
    std::vector<PlacedPoint> points;
    for (int x = 0; x < side; ++x) {
      for (int y = 0; y < side; ++y) {
        points.push_back({(x + 0.5) / side, (y + 0.5) / side, 0});
      }
    }
    const PlotCells cells = plot_cells(points, kFrame);
    EXPECT_EQ(points_in(cells), side * side);
    EXPECT_LE(cells.cells.size(), kMostCells);
  }
}

TEST(PlotCells, WhatLiesOutsideIsCountedAndStaysAtTheEdge) {
  const std::vector<PlacedPoint> points{
      {-0.5, 0.5, 0}, {0.5, 1.5, 0}, {1e300, -1e300, 0}, {0.0, 1.0, 0}};
  const PlotCells cells = plot_cells(points, kFrame);
  EXPECT_EQ(cells.clipped, 3);
  EXPECT_EQ(points_in(cells), 4);
  for (const PlotCell& cell : cells.cells) {
    EXPECT_GE(std::min(cell.column, cell.row), 0);
    EXPECT_LT(std::max(cell.column, cell.row), kFrame / cells.side);
  }
}

TEST(PlotCells, TheSmallerSeriesShows) {
  std::vector<PlacedPoint> points(5, {0.5, 0.5, 0});
  points.push_back({0.5, 0.5, 1});
  points.push_back({0.5, 0.5, 0});
  EXPECT_EQ(plot_cells(points, kFrame).cells.at(0).series, 1U);
}

TEST(ValidationPlot, SameRowsSameBytes) {
  EXPECT_EQ(to_svg(scatter_drawing(plot_of(500))), to_svg(scatter_drawing(plot_of(500))));
  EXPECT_EQ(to_svg(error_drawing(plot_of(500))), to_svg(error_drawing(plot_of(500))));
}

TEST(ValidationPlot, TheOrderOfRowsDoesNotMatter) {
  ValidationPlot turned = plot_of(500);
  for (PlotSeries& series : turned.series) {
    std::reverse(series.points.begin(), series.points.end());
  }
  // Rectangles are the same; means may differ in their last bit, never in the digits shown.
  EXPECT_EQ(to_svg(scatter_drawing(turned)), to_svg(scatter_drawing(plot_of(500))));
}

TEST(ValidationPlot, ThousandsOfRowsStaySmall) {
  const ValidationPlot plot = plot_of(20'000);
  EXPECT_LT(to_svg(scatter_drawing(plot)).size(), 120'000U);
  EXPECT_LT(to_svg(error_drawing(plot)).size(), 120'000U);
  EXPECT_TRUE(to_png(error_drawing(plot)));
}

TEST(ValidationPlot, NothingIsDrawnOutsideTheFrame) {
  ValidationPlot plot = plot_of(300);
  plot.series[0].points.push_back(point(1.0, 1e9));
  plot.series[0].points.push_back(point(1e5, 1e-9));
  for (const Drawing& drawing : {scatter_drawing(plot), error_drawing(plot)}) {
    for (const Rectangle& r : drawing.rectangles) {
      EXPECT_GE(r.x, 0.0);
      EXPECT_GE(r.y, 59.0);
      EXPECT_LE(r.x + r.width, drawing.width);
      EXPECT_LE(r.y + r.height, 541.0);
    }
  }
}

TEST(ValidationPlot, TheLegendHasSeriesInOrderWithRowsAndMeanError) {
  const ValidationPlot plot{
      "p",
      "P",
      "time",
      "ms",
      {{"zebra", {point(10.0, 11.0), point(10.0, 8.0)}}, {"ant", {point(100.0, 130.0)}}}};
  const Drawing drawing = scatter_drawing(plot);
  std::vector<std::string> names;
  for (const Label& label : drawing.labels) {
    if (label.text == "zebra" || label.text == "ant" || label.text == "all") {
      names.push_back(label.text);
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"zebra", "ant", "all"}));
  EXPECT_TRUE(has_label(drawing, "15.0 %"));  // of 10 and 20 %
  EXPECT_TRUE(has_label(drawing, "30.0 %"));
  EXPECT_TRUE(has_label(drawing, "20.0 %"));  // of 10, 20 and 30 %
  EXPECT_TRUE(has_label(drawing, "within 10 %: 33.3 % of rows"));
  EXPECT_TRUE(has_label(drawing, "within 25 %: 66.7 % of rows"));
  EXPECT_TRUE(has_label(drawing, "measured time (ms)"));
  EXPECT_TRUE(has_label(drawing, "predicted time (ms)"));
}

TEST(ValidationPlot, WhatCannotBeDrawnIsSaid) {
  ValidationPlot plot = plot_of(100);
  plot.series[0].points.push_back(point(1.0, 1e9));
  plot.series[1].points.push_back(point(1.0, 0.0));
  const Drawing scatter = scatter_drawing(plot);
  EXPECT_TRUE(has_label(scatter, "1 row beyond the frame, at its edge"));
  EXPECT_TRUE(has_label(scatter, "1 row not above zero, not drawn"));
  const Drawing error = error_drawing(plot);
  // A prediction of nothing is an error of −100 %, which has a place, here beyond the frame too.
  EXPECT_TRUE(has_label(error, "2 rows beyond the frame, at its edge"));
  EXPECT_FALSE(has_label(error, "1 row not above zero, not drawn"));
}

TEST(ValidationPlot, ManySeriesShareTheLastEntry) {
  ValidationPlot plot{"p", "P", "time", "s", {}};
  for (int i = 0; i < 30; ++i) {
    plot.series.push_back({fmt::format("s{}", i), {point(1.0 + i, 1.0 + i)}});
  }
  plot.series[29].points.push_back(point(5.0, 5.0));
  const Drawing drawing = scatter_drawing(plot);
  EXPECT_TRUE(has_label(drawing, "10 others"));  // 21 entries: 20 and the rest
  EXPECT_TRUE(has_label(drawing, "s29"));        // the largest is kept
  EXPECT_FALSE(has_label(drawing, "s28"));
}

TEST(ValidationPlot, EmptyOnesAreStillPictures) {
  const ValidationPlot plot{"p", "P", "time", "s", {{"a", {{0.0, 0.0, 0.0}}}}};
  EXPECT_TRUE(to_png(scatter_drawing(plot)));
  EXPECT_TRUE(to_png(error_drawing(plot)));
}

// The stripe within 10 % at the left edge reaches from the corner to log(1.1) / log(high / low).
TEST(ValidationPlot, BandsFollowTheDiagonal) {
  const ValidationPlot plot{"p", "P", "time", "s", {{"a", {point(1.0, 1.0), point(100.0, 100.0)}}}};
  const Drawing drawing = scatter_drawing(plot);
  ASSERT_GE(drawing.polygons.size(), 2U);
  const Polygon& near = drawing.polygons[1];
  ASSERT_EQ(near.corners.size(), 6U);
  EXPECT_NEAR(near.corners[0].y - near.corners[1].y, 480.0 * std::log10(1.1) / 2.0, 1e-9);
  EXPECT_NEAR(near.corners[5].x - near.corners[0].x, -480.0 * std::log10(0.9) / 2.0, 1e-9);
}

}  // namespace
}  // namespace sextant::explain
