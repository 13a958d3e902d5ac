// Which layout to recommend: the simplest whose step cannot be told from the fastest's.
//
// The fastest of millions of predicted layouts is among those that the model flatters most, and
// what it gains over a plain one is often a percent, within what predictions of differences err.
// So of all layouts that fit, that give up at most kMostGivenUp of the step, and whose difference
// from the fastest cannot be told (step/difference.h), the one with the fewest points
// (simplicity.h) is recommended, of those the fastest: exactly, by the search itself.
#pragma once

#include <optional>
#include <span>

#include "search/find.h"
#include "search/simplicity.h"
#include "step/difference.h"

namespace sextant::search {

// Of what is made small. Judged on measured layouts: docs/planning.md.
inline constexpr double kMostGivenUp = 0.02;

// How much slower a layout may be: kMostGivenUp, or less where some kind of change is told apart
// better than that.
double most_given_up(const describe::DifferenceSpreads& spreads);

// One of the layouts to choose from, as whoever asks names it.
struct Contender {
  double value = 0.0;  // what is made small
  int points = 0;
};
// The place of the recommended one. REQUIRES: there are some, with positive values.
std::size_t recommended_of(std::span<const Contender> contenders, double given_up);

struct Recommended {
  Plan plan;
  Burdens own;
  Burdens fastest;              // of the fastest
  step::Difference difference;  // of the plan over the fastest
};

// Of a search that was asked for the simplest by `measure`. REQUIRES: it found plans.
Recommended recommended(const Problem& problem, const Found& found, const Simplicity& measure,
                        const describe::DifferenceSpreads& spreads);

}  // namespace sextant::search
