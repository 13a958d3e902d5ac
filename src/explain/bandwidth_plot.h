// Bandwidth against the size of the message: measured points and predicted lines.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "explain/drawing.h"
#include "explain/plot_axis.h"

namespace sextant::explain {

struct BandwidthPoint {
  Bytes bytes;
  BytesPerSecond rate;
};

// Either side may be empty: a sweep has a line only.
struct BandwidthSeries {
  std::string name;    // "all-reduce, 16 ranks"
  std::string detail;  // what it was measured on: a second line of the legend; "" = none
  std::vector<BandwidthPoint> measured;
  std::vector<BandwidthPoint> predicted;  // joined by a line, in the order of their sizes
};

struct BandwidthPlot {
  std::string name;      // of its file: "bandwidth-two-nodes"
  std::string title;     // "Two nodes"
  std::string quantity;  // of the upright axis: "bus bandwidth"
  std::vector<BandwidthSeries> series;
};

// Both axes logarithmic: bytes in powers of two, rates in GB/s. Points without a place (not above
// zero, or no number) are left out. At most kMostBandwidthSeries series are drawn, the first ones.
Drawing bandwidth_drawing(const BandwidthPlot& plot);
inline constexpr std::size_t kMostBandwidthSeries = 7;

// A logarithmic axis of bytes: both ends moved out to powers of two, at least a factor of 4 apart,
// with ticks such as 32 KiB and 1 MiB at powers of two, at most nine.
// REQUIRES: 0 < least ≤ most. Below 1 B and above 2^60 B is cut off.
PlotAxis bytes_axis(Bytes least, Bytes most);

}  // namespace sextant::explain
