#include "explain/heat_map.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/quantity_text.h"

namespace sextant::explain {
namespace {

constexpr std::int64_t kMostCells = 256;
constexpr double kSide = 512.0;
constexpr double kLeft = 60.0;
constexpr double kTop = 40.0;
constexpr int kWidth = 700;
constexpr int kHeight = 600;

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
  const double side = kSide / static_cast<double>(map.cells);
  for (std::int64_t from = 0; from < map.cells; ++from) {
    for (std::int64_t to = 0; to < map.cells; ++to) {
      const double bytes = map.bytes[static_cast<std::size_t>(from * map.cells + to)];
      if (bytes > 0.0) {
        drawing.rectangles.push_back({kLeft + side * static_cast<double>(to),
                                      kTop + side * static_cast<double>(from), side, side,
                                      scale_color(share_of(bytes, least, most))});
      }
    }
  }
}

void add_frame(Drawing& drawing) {
  constexpr Color kLine{150, 150, 150};
  for (const double at : {0.0, kSide}) {
    drawing.rectangles.push_back({kLeft + at - 0.5, kTop, 1.0, kSide, kLine});
    drawing.rectangles.push_back({kLeft, kTop + at - 0.5, kSide, 1.0, kLine});
  }
}

void add_axes(const HeatMap& map, Drawing& drawing) {
  constexpr int kTicks = 8;
  for (int tick = 0; tick <= kTicks; ++tick) {
    const double place = kSide * tick / kTicks;
    const std::string number = std::to_string(map.size * tick / kTicks);
    drawing.labels.push_back({kLeft - 6.0, kTop + place + 4.0, number, Label::Anchor::kEnd});
    drawing.labels.push_back({kLeft + place, kTop + kSide + 16.0, number, Label::Anchor::kMiddle});
  }
  const std::string word(describe::word_of<workload::MatrixBy>(workload::kMatrixByWords, map.by));
  drawing.labels.push_back({kLeft + kSide / 2.0, kTop + kSide + 34.0, fmt::format("to {}", word),
                            Label::Anchor::kMiddle});
  drawing.labels.push_back(
      {kLeft - 50.0, kTop - 8.0, fmt::format("from {}", word), Label::Anchor::kStart});
}

void add_legend(const HeatMap& map, Drawing& drawing) {
  constexpr int kSteps = 32;
  constexpr double kX = kLeft + kSide + 24.0;
  constexpr double kHeightOfLegend = 256.0;
  const auto [least, most] = range_of(map);
  for (int step = 0; step < kSteps; ++step) {
    const double share = 1.0 - static_cast<double>(step) / (kSteps - 1);
    drawing.rectangles.push_back({kX, kTop + kHeightOfLegend * step / kSteps, 16.0,
                                  kHeightOfLegend / kSteps, scale_color(share)});
  }
  drawing.labels.push_back({kX + 22.0, kTop + 8.0, to_text(Bytes(most)), Label::Anchor::kStart});
  drawing.labels.push_back(
      {kX + 22.0, kTop + kHeightOfLegend, to_text(Bytes(least)), Label::Anchor::kStart});
  drawing.labels.push_back(
      {kX, kTop + kHeightOfLegend + 20.0, "a step, log scale", Label::Anchor::kStart});
}

}  // namespace

HeatMap heat_map(const workload::CommunicationMatrix& matrix, workload::MatrixBy by) {
  HeatMap map;
  map.by = by;
  map.size = matrix.size(by);
  map.per_cell = (map.size + kMostCells - 1) / kMostCells;
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
  drawing.width = kWidth;
  drawing.height = kHeight;
  drawing.title = title;
  add_cells(map, drawing);
  add_frame(drawing);
  add_axes(map, drawing);
  add_legend(map, drawing);
  drawing.labels.push_back({kLeft + 60.0, kTop - 20.0, title, Label::Anchor::kStart});
  if (map.per_cell > 1) {
    drawing.labels.push_back(
        {kLeft + kSide, kTop - 8.0, fmt::format("{} a cell", map.per_cell), Label::Anchor::kEnd});
  }
  return drawing;
}

}  // namespace sextant::explain
