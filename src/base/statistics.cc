#include "base/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace sextant {

std::optional<double> mean(std::span<const double> values) {
  if (values.empty()) {
    return std::nullopt;
  }
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> quantile(std::span<const double> values, double q) {
  if (values.empty()) {
    return std::nullopt;
  }
  assert(q >= 0.0 && q <= 1.0);
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

std::optional<double> kendall_tau_b(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size());
  std::int64_t concordant = 0;
  std::int64_t discordant = 0;
  std::int64_t untied_a = 0;
  std::int64_t untied_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = i + 1; j < a.size(); ++j) {
      const double da = a[i] - a[j];
      const double db = b[i] - b[j];
      untied_a += da != 0.0 ? 1 : 0;
      untied_b += db != 0.0 ? 1 : 0;
      if (da != 0.0 && db != 0.0) {
        ((da > 0.0) == (db > 0.0) ? concordant : discordant) += 1;
      }
    }
  }
  if (untied_a == 0 || untied_b == 0) {
    return std::nullopt;
  }
  return static_cast<double>(concordant - discordant) /
         std::sqrt(static_cast<double>(untied_a) * static_cast<double>(untied_b));
}

std::optional<double> top1_regret(std::span<const double> measured,
                                  std::span<const double> predicted) {
  assert(measured.size() == predicted.size());
  if (measured.empty()) {
    return std::nullopt;
  }
  const double best_predicted = *std::min_element(predicted.begin(), predicted.end());
  const double best_measured = *std::min_element(measured.begin(), measured.end());
  std::vector<double> chosen;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    if (predicted[i] == best_predicted) {
      chosen.push_back(measured[i]);
    }
  }
  return mean(chosen).value_or(best_measured) / best_measured - 1.0;
}

}  // namespace sextant
