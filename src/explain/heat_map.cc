#include "explain/heat_map.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "explain/plot_colors.h"

namespace sextant::explain {
namespace {

constexpr std::int64_t kMostCellsASide = 256;
struct HeatCanvas {
  static constexpr double kSide = 512.0;
  static constexpr double kLeft = 60.0;
  static constexpr double kTop = 40.0;
  static constexpr int kWidth = 700;
  static constexpr int kHeight = 600;
};

// The ends of the scale: the largest cell, and the smallest that is not nothing, but no less than a
// millionth of it (scalars would take up most of the scale).
std::pair<double, double> range_of(const HeatMap& map) {
  constexpr double kFaintest = 1e-6;
  double least = 0.0;
  double most = 0.0;
  for (const double bytes : map.bytes) {
    if (bytes > 0.0) {
      least = least == 0.0 ? bytes : std::min(least, bytes);
      most = std::max(most, bytes);
    }
  }
  return {std::max(least, most * kFaintest), most};
}

double share_of(double bytes, double least, double most) {
  return most > least ? std::log(std::max(bytes, least) / least) / std::log(most / least) : 1.0;
}

void add_cells(const HeatMap& map, Drawing& drawing) {
  const auto [least, most] = range_of(map);
  const double side = HeatCanvas::kSide / static_cast<double>(map.cells);
  for (std::int64_t from = 0; from < map.cells; ++from) {
    for (std::int64_t to = 0; to < map.cells; ++to) {
      const double bytes = map.bytes[static_cast<std::size_t>(from * map.cells + to)];
      if (bytes > 0.0) {
        drawing.rectangles.push_back({HeatCanvas::kLeft + side * static_cast<double>(to),
                                      HeatCanvas::kTop + side * static_cast<double>(from), side,
                                      side, scale_color(share_of(bytes, least, most))});
      }
    }
  }
}

void add_heat_frame(Drawing& drawing) {
  for (const double at : {0.0, HeatCanvas::kSide}) {
    drawing.rectangles.push_back(
        {HeatCanvas::kLeft + at - 0.5, HeatCanvas::kTop, 1.0, HeatCanvas::kSide, kAxisColor});
    drawing.rectangles.push_back(
        {HeatCanvas::kLeft, HeatCanvas::kTop + at - 0.5, HeatCanvas::kSide, 1.0, kAxisColor});
  }
}

void add_axes(const HeatMap& map, Drawing& drawing) {
  constexpr int kTicks = 8;
  for (int tick = 0; tick <= kTicks; ++tick) {
    const double place = HeatCanvas::kSide * tick / kTicks;
    const std::string number = std::to_string(map.size * tick / kTicks);
    drawing.labels.push_back(
        {HeatCanvas::kLeft - 6.0, HeatCanvas::kTop + place + 4.0, number, Label::Anchor::kEnd});
    drawing.labels.push_back({HeatCanvas::kLeft + place,
                              HeatCanvas::kTop + HeatCanvas::kSide + 16.0, number,
                              Label::Anchor::kMiddle});
  }
  const std::string word(describe::word_of<workload::MatrixBy>(workload::kMatrixByWords, map.by));
  drawing.labels.push_back({HeatCanvas::kLeft + HeatCanvas::kSide / 2.0,
                            HeatCanvas::kTop + HeatCanvas::kSide + 34.0, fmt::format("to {}", word),
                            Label::Anchor::kMiddle});
  drawing.labels.push_back({HeatCanvas::kLeft - 50.0, HeatCanvas::kTop - 8.0,
                            fmt::format("from {}", word), Label::Anchor::kStart});
}

void add_heat_legend(const HeatMap& map, Drawing& drawing) {
  constexpr int kSteps = 32;
  constexpr double kX = HeatCanvas::kLeft + HeatCanvas::kSide + 24.0;
  constexpr double kHeightOfLegend = 256.0;
  const auto [least, most] = range_of(map);
  for (int step = 0; step < kSteps; ++step) {
    const double share = 1.0 - static_cast<double>(step) / (kSteps - 1);
    drawing.rectangles.push_back({kX, HeatCanvas::kTop + kHeightOfLegend * step / kSteps, 16.0,
                                  kHeightOfLegend / kSteps, scale_color(share)});
  }
  drawing.labels.push_back(
      {kX + 22.0, HeatCanvas::kTop + 8.0, to_text(Bytes(most)), Label::Anchor::kStart});
  drawing.labels.push_back({kX + 22.0, HeatCanvas::kTop + kHeightOfLegend, to_text(Bytes(least)),
                            Label::Anchor::kStart});
  drawing.labels.push_back(
      {kX, HeatCanvas::kTop + kHeightOfLegend + 20.0, "a step, log scale", Label::Anchor::kStart});
}

}  // namespace

HeatMap heat_map(const workload::CommunicationMatrix& matrix, workload::MatrixBy by) {
  HeatMap map;
  map.by = by;
  map.size = matrix.size(by);
  map.per_cell = (map.size + kMostCellsASide - 1) / kMostCellsASide;
  map.cells = (map.size + map.per_cell - 1) / map.per_cell;
  map.bytes.assign(static_cast<std::size_t>(map.cells * map.cells), 0.0);
  matrix.for_each_row(
      by, [&map](std::int64_t from, std::span<const workload::MatrixEntry> entries) {
        for (const workload::MatrixEntry& entry : entries) {
          const std::int64_t cell = from / map.per_cell * map.cells + entry.to / map.per_cell;
          map.bytes[static_cast<std::size_t>(cell)] += entry.bytes / 1_B;
        }
      });
  return map;
}

Drawing to_drawing(const HeatMap& map, const std::string& title) {
  Drawing drawing;
  drawing.width = HeatCanvas::kWidth;
  drawing.height = HeatCanvas::kHeight;
  drawing.title = title;
  add_cells(map, drawing);
  add_heat_frame(drawing);
  add_axes(map, drawing);
  add_heat_legend(map, drawing);
  drawing.labels.push_back(
      {HeatCanvas::kLeft + 60.0, HeatCanvas::kTop - 20.0, title, Label::Anchor::kStart});
  if (map.per_cell > 1) {
    drawing.labels.push_back({HeatCanvas::kLeft + HeatCanvas::kSide, HeatCanvas::kTop - 8.0,
                              fmt::format("{} a cell", map.per_cell), Label::Anchor::kEnd});
  }
  return drawing;
}

}  // namespace sextant::explain
