// The nearest legal values that violations offer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::describe {

// The divisors of n nearest to `value` from below and above, as "key=divisor".
std::vector<std::string> nearest_divisors(std::string_view key, std::int64_t n, std::int64_t value);

// The multiples of `step` around `value`, as "key=multiple". REQUIRES: value ≥ 0, step ≥ 1.
std::vector<std::string> nearest_multiples(std::string_view key, std::int64_t step,
                                           std::int64_t value);

}  // namespace sextant::describe
