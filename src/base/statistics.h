// Small statistics over values already in memory. All functions are pure and deterministic.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace sextant {

// The arithmetic mean; nothing of no values.
std::optional<double> mean(std::span<const double> values);

// The q-quantile (0 ≤ q ≤ 1) with linear interpolation between order statistics (type 7, as NumPy's
// default); nothing of no values. REQUIRES: no NaN.
std::optional<double> quantile(std::span<const double> values, double q);

inline std::optional<double> median(std::span<const double> values) {
  return quantile(values, 0.5);
}

// Kendall's tau-b between two rankings of the same items: 1 same order, −1 reversed, ties counted
// as tau-b does. Nothing where one side is all ties or there are fewer than two items.
// REQUIRES: a.size() == b.size(), no NaN.
std::optional<double> kendall_tau_b(std::span<const double> a, std::span<const double> b);

// What choosing by prediction costs: measured value of the item predicted smallest, over the
// smallest measured value, minus one. Items tied for the smallest prediction count with their mean.
// REQUIRES: same sizes, positive measured values. Nothing of no items.
std::optional<double> top1_regret(std::span<const double> measured,
                                  std::span<const double> predicted);

}  // namespace sextant
