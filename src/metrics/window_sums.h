// Adds time to the windows it falls into: for those who go through a recording in order of time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "metrics/intervals.h"

namespace sextant::metrics {

template <typename Sum>
class WindowSums {
 public:
  // REQUIRES: windows in order, not overlapping; they outlive it.
  explicit WindowSums(const std::vector<Interval>& windows)
      : windows_(windows), sums_(windows.size()) {}

  // Calls add(sum, part) with the part that lies in a window, for each window that the
  // interval touches. REQUIRES: no interval starts before the last one did.
  template <typename Add>
  void add(const Interval& time, const Add& add) {
    while (at_ < windows_.size() && windows_[at_].end_ns <= time.start_ns) {
      ++at_;
    }
    for (std::size_t i = at_; i < windows_.size() && windows_[i].start_ns < time.end_ns; ++i) {
      const Interval part{std::max(time.start_ns, windows_[i].start_ns),
                          std::min(time.end_ns, windows_[i].end_ns)};
      if (part.start_ns < part.end_ns) {
        add(sums_[i], part);
      }
    }
  }
  [[nodiscard]] std::vector<Sum>& sums() { return sums_; }

 private:
  const std::vector<Interval>& windows_;
  std::vector<Sum> sums_;
  std::size_t at_ = 0;
};

}  // namespace sextant::metrics
