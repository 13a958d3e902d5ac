// A Timeline with fewer spans, to be looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "timeline/timeline.h"

namespace sextant::timeline {

// What is taken of a Timeline.
struct Thinning {
  std::size_t most = 0;  // spans: half of them of devices, the rest of hosts
  // Only what overlaps [from, to).
  std::int64_t from_ns = -Timeline::kFarthestNs;
  std::int64_t to_ns = Timeline::kFarthestNs;
  std::int64_t shift_ns =
      0;  // added to every start; what would leave a Timeline's times is left out
  std::optional<std::vector<RankId>> ranks = std::nullopt;  // only these
};

// Adds the longest spans, of equals the earlier ones, with their lanes, names, groups and facts.
// `into` is to be sorted after.
void add_longest(const Timeline& from, const Thinning& thinning, Timeline& into);

}  // namespace sextant::timeline
