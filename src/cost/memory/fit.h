// Does a layout fit, and if not, what single change would make it fit?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "cost/memory/memory.h"

namespace sextant::cost {

// The answer "no" to a legal question.
struct MemoryRejection {
  static constexpr const char* kRule = "MEMORY-FIT";
  std::int64_t pipeline_rank = 0;
  Bytes needed;     // at least (RankMemory::least)
  Bytes available;  // of one device
  [[nodiscard]] Bytes missing() const { return needed - available; }
};

std::optional<MemoryRejection> memory_rejection(const RankMemory& fullest, Bytes available);

// One key of the layout set to another legal value, and what the job needs then.
struct FittingChange {
  std::string change;  // "recompute=full"
  Bytes needed;
};

// Single changes that make the job fit, the least wasteful (largest need) first. Tried: the usual
// levers, each alone, each legal. Empty: none of them is enough alone.
std::vector<FittingChange> fitting_changes(const describe::Job& job,
                                           const describe::MemoryFacts& facts);

}  // namespace sextant::cost
