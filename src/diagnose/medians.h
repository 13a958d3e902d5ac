// Medians of whole nanoseconds. The order of the values is lost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sextant::diagnose {

// Of an even number the lower of the two in the middle. REQUIRES: at least one value.
inline std::int64_t lower_median(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Of an even number the mean of the two in the middle. REQUIRES: at least one value.
inline std::int64_t median_ns(std::vector<std::int64_t>& values) {
  const std::int64_t lower = lower_median(values);
  if (values.size() % 2 == 1) {
    return lower;
  }
  const std::int64_t upper = *std::min_element(
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return lower + (upper - lower) / 2;
}

}  // namespace sextant::diagnose
