// Integer helpers that never overflow.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

namespace sextant {

// The product, or the largest int64 where it would not fit. REQUIRES: factors ≥ 0.
constexpr std::int64_t saturating_product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (factor == 0) {
      return 0;
    }
    product = product > std::numeric_limits<std::int64_t>::max() / factor
                  ? std::numeric_limits<std::int64_t>::max()
                  : product * factor;
  }
  return product;
}

// The least multiple of `step` that is ≥ value. REQUIRES: value ≥ 0, step ≥ 1, the result fits.
constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

constexpr bool is_power_of_two(std::int64_t number) {
  return number > 0 && (number & (number - 1)) == 0;
}

// A count as a number to calculate with: exact to 2^53.
constexpr double as_double(std::int64_t count) {
  return static_cast<double>(count);
}

}  // namespace sextant
