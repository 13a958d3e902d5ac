#include "explain/plot_cells.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace sextant::explain {
namespace {

// Points on a line between cells stay on one side of it whichever way they were rounded.
constexpr double kCellSlack = 1e-9;

struct GridSize {
  int side = 1;
  int marker = 1;
  std::size_t most = kMostCells;
};

// Few points are drawn larger than their cells, many as large. The coarsest has fewer cells than
// the most even where all are occupied: (480 / 15)² = 1024.
constexpr std::array<GridSize, 9> kSizes{
    {{2, 6, 300}, {3, 4, 800}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {8, 8}, {10, 10}, {15, 15}}};

bool is_outside(double share) {
  return share < -kCellSlack || share > 1.0 + kCellSlack;
}

int index_of(double share, int count) {
  const double inside = std::clamp(share, 0.0, 1.0);
  return std::min(static_cast<int>(std::floor(inside * count + kCellSlack)), count - 1);
}

PlotCells gathered_cells(std::span<const PlacedPoint> points, int frame, const GridSize& size,
                         const std::map<std::size_t, std::int64_t>& of_series) {
  PlotCells result{size.side, size.marker, {}, 0};
  const int count = frame / size.side;
  std::map<std::pair<int, int>, PlotCell> occupied;
  for (const PlacedPoint& point : points) {
    const std::pair<int, int> at{index_of(point.x, count), index_of(point.y, count)};
    PlotCell& cell = occupied[at];
    const bool shows = cell.points == 0 || std::pair(of_series.at(point.series), cell.series) <
                                               std::pair(of_series.at(cell.series), point.series);
    if (shows) {
      cell.series = point.series;
    }
    cell.column = at.first;
    cell.row = at.second;
    ++cell.points;
    result.clipped += is_outside(point.x) || is_outside(point.y) ? 1 : 0;
  }
  result.cells.reserve(occupied.size());
  for (const auto& [at, cell] : occupied) {
    result.cells.push_back(cell);
  }
  return result;
}

}  // namespace

PlotCells plot_cells(std::span<const PlacedPoint> points, int frame) {
  std::map<std::size_t, std::int64_t> of_series;
  for (const PlacedPoint& point : points) {
    ++of_series[point.series];
  }
  PlotCells result;
  for (const GridSize& size : kSizes) {
    result = gathered_cells(points, frame, size, of_series);
    if (result.cells.size() <= size.most) {
      break;
    }
  }
  return result;
}

}  // namespace sextant::explain
