// The one place where a search or a baseline asks what a layout costs, and is counted.
//
// A call is a whole step priced (`timed`), a memory asked (`weighed`), the least time of a family
// of layouts (`floors`) or one pipeline stage priced (`stages`); Calls::total() is what baselines
// are compared by.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cost/memory/memory.h"
#include "search/problem.h"
#include "step/floor.h"
#include "step/step_costs.h"

namespace sextant::search {

struct Calls {
  std::int64_t timed = 0;
  std::int64_t weighed = 0;
  std::int64_t floors = 0;
  std::int64_t stages = 0;
  [[nodiscard]] std::int64_t total() const { return timed + floors + stages; }
  Calls& operator+=(const Calls& other) {
    timed += other.timed;
    weighed += other.weighed;
    floors += other.floors;
    stages += other.stages;
    return *this;
  }
};

// Keeps scratch space: one a thread. The problem must outlive it.
class Leaf {
 public:
  explicit Leaf(const Problem& problem)
      : costs_(problem.job, problem.machine),
        floors_(problem.job, problem.machine, {.keep = kFloorsKeep}),
        memory_(problem.job, problem.memory),
        available_(problem.available()) {}

  // REQUIRES (all): check_rules finds nothing for the job with this layout.
  step::StepTerms time(const describe::Layout& layout) {
    ++calls_.timed;
    return costs_.terms(layout);
  }
  bool fits(const describe::Layout& layout) {
    ++calls_.weighed;
    return memory_.fits(layout, available_);
  }
  // See cost::MemoryModel.
  Bytes least_with(const describe::Layout& layout, std::span<const std::int64_t> layers,
                   std::span<const std::int64_t> alive) {
    ++calls_.weighed;
    return memory_.least_with(layout, layers, alive);
  }
  // Of the fullest rank.
  cost::RankMemory memory(const describe::Layout& layout) {
    ++calls_.weighed;
    return memory_.fullest(layout);
  }
  // What no layout that differs from the one timed last only in hiding less is below: see
  // step::StepCosts.
  [[nodiscard]] const step::HidingLess& hiding_less() const { return costs_.hiding_less(); }
  // No layout that does the same for a microbatch is faster: see step::StepFloors.
  void floor(const describe::Layout& layout, bool alone, Seconds enough, step::StepFloor& floor) {
    ++calls_.floors;
    floors_.fill(layout, alone, enough, floor);
  }
  // One microbatch through all layers, computing alone.
  Seconds compute_floor(const describe::Layout& layout) { return floors_.compute(layout); }
  // What each stage takes, in model order; one call a stage.
  std::vector<step::StageCost> stages(const describe::Layout& layout) {
    calls_.stages += layout.stages();
    costs_.terms(layout);
    return costs_.stages();
  }
  [[nodiscard]] const Calls& calls() const { return calls_; }

 private:
  // Floors are asked for once.
  static constexpr step::KeepLimits kFloorsKeep{1 << 16, 1 << 18, 1 << 18, 1 << 16,
                                                256,     256,     1024,    8192};

  step::StepCosts costs_;
  step::StepFloors floors_;
  cost::MemoryModel memory_;
  Bytes available_;
  Calls calls_;
};

}  // namespace sextant::search
