#include "describe/layout/rule_nearest.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace sextant::describe {

std::vector<std::string> nearest_divisors(std::string_view key, std::int64_t n,
                                          std::int64_t value) {
  constexpr std::int64_t kFurthest = 1 << 20;
  std::vector<std::string> nearest;
  const std::int64_t bounded = std::clamp<std::int64_t>(value, 1, kFurthest);
  for (std::int64_t below = std::min(bounded, n); below >= 1; --below) {
    if (n % below == 0) {
      nearest.push_back(fmt::format("{}={}", key, below));
      break;
    }
  }
  for (std::int64_t above = bounded + 1; above <= std::min(n, kFurthest); ++above) {
    if (n % above == 0) {
      nearest.push_back(fmt::format("{}={}", key, above));
      break;
    }
  }
  return nearest;
}

std::vector<std::string> nearest_multiples(std::string_view key, std::int64_t step,
                                           std::int64_t value) {
  std::vector<std::string> nearest;
  const std::int64_t below = value / step * step;
  if (below > 0) {
    nearest.push_back(fmt::format("{}={}", key, below));
  }
  if (below < std::numeric_limits<std::int64_t>::max() - step) {
    nearest.push_back(fmt::format("{}={}", key, below + step));
  }
  return nearest;
}

}  // namespace sextant::describe
