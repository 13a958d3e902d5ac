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

// In what share of jobs like it the rank fits: what PyTorch's allocator reserves for the same
// tensors differs from job to job, lognormally, by RankMemory::spread around RankMemory::reserved.
double fit_odds(const RankMemory& fullest, Bytes available);
// From here on a job is said to fit, without a word of odds …
inline constexpr double kFitsOdds = 0.8;
// … and a change is said to make it safe.
inline constexpr double kSafeOdds = 0.95;

// The same rank where the allocator grows its segments in place
// (PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True) and leaves no holes.
RankMemory with_expandable_segments(RankMemory memory, const describe::MemoryFacts& facts);
inline constexpr const char* kExpandableSegments =
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";

std::optional<MemoryRejection> memory_rejection(const RankMemory& fullest, Bytes available);
// The same question asked with a margin, as a planner does: against what the allocator reserves.
std::optional<MemoryRejection> margin_rejection(const RankMemory& fullest, Bytes available);

// One key of the layout set to another legal value, and what the job needs then.
struct FittingChange {
  std::string change;  // "recompute=full"
  Bytes needed;
  double odds = 0.0;
  describe::Layout layout = {};                // with the change
  std::optional<Seconds> step = std::nullopt;  // of a step with it, where someone timed it
};

// Single changes that make the job fit, with odds of at least `odds`; the least wasteful (largest
// need) first. Tried: PyTorch's allocator that leaves no holes, and the usual levers, each alone,
// each legal. Empty: none of them is enough alone.
std::vector<FittingChange> fitting_changes(const describe::Job& job,
                                           const describe::MemoryFacts& facts, double odds);

}  // namespace sextant::cost
