// Constants that bring predictions to measurements: coordinate descent on the mean |log(predicted /
// measured)|.
//
// Each constant in turn is set to the best value in a range around the present one: a coarse grid
// in the logarithm, then golden section between the neighbours of its best point. Ranges narrow
// from round to round. After a round all constants go once more along the way that the round took
// them, if that is better: constants that trade against each other move together so. A value
// changes only where the error falls, so constants that nothing depends on stay as they were.
// Deterministic; no derivatives, because predictions have kinks (waves of tiles, the slower of two
// paths).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace sextant::cost {

struct FitConstant {
  double start = 1.0;
  double least = 0.0;             // > 0
  double most = 0.0;              // ≥ least
  std::vector<std::size_t> rows;  // those it is judged by; none: it stays
};

struct FitProblem {
  std::vector<FitConstant> constants;
  // The mean error over some rows with the constants at these values. Any finite number, the less
  // the better; the same for the same values.
  std::function<double(std::span<const double> values, std::span<const std::size_t> rows)> error;
  std::vector<std::size_t> all_rows;  // what a move of all constants is judged by
  int rounds = 10;
};

// Values of the constants, in their order, within their bounds.
std::vector<double> fitted_values(const FitProblem& problem);

}  // namespace sextant::cost
