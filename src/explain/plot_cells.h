// Points of a plot gathered into cells of a grid, so that thousands of them make a small picture.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sextant::explain {

// Shares of the frame: 0 to 1 is inside.
struct PlacedPoint {
  double x = 0.0;
  double y = 0.0;
  std::size_t series = 0;
};

struct PlotCell {
  int column = 0;
  int row = 0;             // from below
  std::size_t series = 0;  // whose colour it takes
  std::int64_t points = 0;
};

struct PlotCells {
  int side = 1;                 // pixels of a cell
  int marker = 1;               // pixels of what is drawn for it
  std::vector<PlotCell> cells;  // occupied ones, by column, then row
  std::int64_t clipped = 0;     // points beyond the frame: put into the cells at its edge
};

// The most cells a plot draws: an SVG of about 110 KB.
inline constexpr std::size_t kMostCells = 1400;

// The finest grid of a square frame that has at most kMostCells occupied cells. Every point is in
// one of them. Where several series meet, the one with the fewest points shows (of equals, the
// later): else the small ones would vanish under the large ones.
// REQUIRES: frame is a multiple of 240 and at most 480; no coordinate is NaN.
PlotCells plot_cells(std::span<const PlacedPoint> points, int frame);

}  // namespace sextant::explain
