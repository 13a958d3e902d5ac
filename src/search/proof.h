// Is there a layout better than the one found? Asked anew, without floors: nothing that a search
// left out by a bound is left out here.
#pragma once

#include <cstdint>
#include <optional>

#include "search/find.h"

namespace sextant::search {

struct Proof {
  bool exhaustive = false;  // false: a sample
  double checked = 0.0;     // layouts
  double possible = 0.0;
  std::optional<Plan> better;  // than the best one found; there is none, or the search is wrong
};

// Every layout up to so many; beyond, a sample drawn with equal chance from the whole space.
inline constexpr double kMostProved = 1e8;
inline constexpr std::int64_t kSampled = 200'000;

// `computing_weight`: as the search was asked (FindOptions).
Proof prove(const Space& space, const Found& found, double computing_weight = 0.0,
            std::uint64_t seed = 1);

}  // namespace sextant::search
