// Predictions over measurements as pictures: one against the other, and the error by size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explain/drawing.h"

namespace sextant::explain {

struct PlotPoint {
  double measured = 0.0;  // in the plot's unit
  double predicted = 0.0;
  double error = 0.0;  // as measured/validate.h defines it
};

struct PlotSeries {
  std::string name;
  std::vector<PlotPoint> points;
};

// One quantity of one kind of table.
struct ValidationPlot {
  std::string name;      // of its files: "kernels" gives kernels.svg and kernels-error.svg
  std::string title;     // "Kernels"
  std::string quantity;  // "time"
  std::string unit;      // "µs"; "" where it has none
  std::vector<PlotSeries> series;

  [[nodiscard]] std::int64_t rows() const;
  // Mean magnitude of the error over all series. REQUIRES: there are rows.
  [[nodiscard]] double mean_error() const;
};

// Predicted against measured, both logarithmic, over the diagonal and the bands within 10 % and
// 25 % of it. The legend has rows and mean error of every series, and the share of rows in each
// band. Rows beyond the frame are drawn on its edge and counted below the legend, as are those
// that cannot be drawn (not above zero). More than 21 series: the smallest are drawn as one.
Drawing scatter_drawing(const ValidationPlot& plot);

// Error in percent against the measured value on a logarithmic axis, over the band within 10 %.
Drawing error_drawing(const ValidationPlot& plot);

}  // namespace sextant::explain
