// Where each action of a table stands, checked: what compile.h orders.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/result.h"
#include "schedule/actions.h"

namespace sextant::schedule {

inline constexpr std::uint32_t kNoPlace = std::numeric_limits<std::uint32_t>::max();

// All lists laid end to end; a place is a position in that.
struct Place {
  const Action* action = nullptr;
  std::uint32_t rank = 0;
  std::uint32_t slot = 0;  // within the rank
};

struct PlacedTable {
  // What one stage and microbatch has.
  enum Column : std::size_t { kForward, kGradient, kWeight, kColumns };

  std::int64_t stages = 0;
  std::int64_t microbatches = 0;
  std::vector<Place> places;
  std::vector<std::uint32_t> first;  // the rank's first place; one more at the end
  std::vector<std::uint32_t> where;  // [stage, microbatch][column] → place

  [[nodiscard]] std::size_t key_of(std::int64_t stage, std::int64_t microbatch) const {
    return static_cast<std::size_t>(stage * microbatches + microbatch);
  }
  [[nodiscard]] std::uint32_t at(std::size_t key, Column column) const {
    return where[key * kColumns + column];
  }
  // The action of a neighbouring stage that must be done first, or that waits for this one;
  // kNoPlace where there is none.
  [[nodiscard]] std::uint32_t needed_by(const Action& action) const;
  [[nodiscard]] std::uint32_t served_by(const Action& action) const;
};

// Every Error of compiled() but ranks that wait for ever. Points into the table.
Result<PlacedTable> placed(const ActionTable& table);

}  // namespace sextant::schedule
