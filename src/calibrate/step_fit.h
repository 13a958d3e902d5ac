// Constants of the step model (data/step.toml) from measured steps.
//
// The objective is the mean over sources of a source's mean |error|, a row counting at most 1: a
// source with a thousand rows counts no more than one with forty. Constants lie on grids of their
// own, inside bounds; the search moves one after the other, then two at once, steps of eight grid
// lines first, then four, two and one, until none is better. No randomness: the same rows give the
// same constants.
//
// Rows that a constant moves by nothing between its bounds are taken not to depend on it, so that
// they are predicted once for all its values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/run_samples.h"
#include "describe/step_facts.h"

namespace sextant::calibrate {

inline constexpr std::size_t kStepConstants = 7;
// Values on their grids, as numbers of grid lines.
using StepPlace = std::array<int, kStepConstants>;

struct StepConstant {
  std::string_view key;
  double grid = 0.0;  // a step of it: ratios, or milliseconds
  int least = 0;      // bounds, in grid lines
  int most = 0;
  std::string_view unit;
};
// In the order of StepPlace.
const std::array<StepConstant, kStepConstants>& step_constants();

// The nearest place of these constants, and a place's constants in their stead.
StepPlace place_of(const describe::StepFacts& facts);
void put_place(const StepPlace& place, describe::StepFacts& facts);
void put_constant(std::size_t constant, int line, describe::StepFacts& facts);
// The middle of every range: where a fit starts that must know nothing.
StepPlace middle_place();
// "0.65 ratio", "20 ms".
std::string constant_text(std::size_t constant, int line);

struct StepFit {
  StepPlace place{};
  std::array<std::int64_t, kStepConstants> rows{};  // that depend on each constant
  double before = 0.0;                              // the objective at the start
  double after = 0.0;
  std::int64_t samples = 0;  // used: of large sources a part, evenly taken
  std::int64_t sources = 0;
  std::int64_t tried = 0;  // places looked at
};
// Constants that fewer than kFewestRows rows depend on stay where they start.
inline constexpr std::int64_t kFewestRows = 12;
StepFit fit_step(const std::vector<RunSample>& samples, const StepPlace& start);

// The objective of predictions; 0 of no samples. REQUIRES: same sizes.
double macro_error(const std::vector<RunSample>& samples, const std::vector<Seconds>& predicted);

}  // namespace sextant::calibrate
