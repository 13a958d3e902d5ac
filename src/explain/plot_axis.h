// One axis of a plot: where a value stands on it, and its ticks.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace sextant::explain {

struct Tick {
  double value = 0.0;
  std::string text;
};

struct PlotAxis {
  double low = 0.0;
  double high = 1.0;
  bool logarithmic = false;
  std::vector<Tick> ticks;  // inside, rising

  // 0 at the low end, 1 at the high end, beyond these outside.
  // REQUIRES: value > 0 on a logarithmic axis.
  [[nodiscard]] double share(double value) const;
};

// From least to most, both ends moved out to 1, 2 or 5 times a power of ten, and at least one
// decade long. Ticks stand at powers of ten, on short axes at 2 and 5 times these too. What lies
// outside 1e-290 to 1e290 is cut off. REQUIRES: 0 < least ≤ most.
PlotAxis log_axis(double least, double most);

// Percent on both sides of zero, wide enough for at least 98 of 100 errors (given as shares: 0.1
// is 10 %), from ±20 % to ±1000 %. No prediction above zero is below −100 %, so there it ends.
PlotAxis percent_axis(std::span<const double> errors);

}  // namespace sextant::explain
