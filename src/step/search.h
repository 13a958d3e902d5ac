// Time and memory of a step for one layout of a job after another: what a search asks hundreds of
// thousands of times a second. The time is estimate_step()'s, to the last bit; lists of stages and
// of items of memory are left out.
#pragma once

#include "cost/memory/memory.h"
#include "describe/memory_facts.h"
#include "step/step_costs.h"

namespace sextant::step {

struct SearchEstimate {
  StepTerms time;
  // Of the fullest pipeline rank (cost::RankMemory).
  std::int64_t fullest_rank = 0;
  Bytes allocated;
  Bytes device;
  Bytes least;
  bool fits = true;  // `least` in what a device has
};

// Keeps scratch space: one a thread. The job and the model must outlive it.
class StepSearch {
 public:
  StepSearch(const describe::Job& job, const StepModel& model, const describe::MemoryFacts& memory);

  // REQUIRES: check_rules finds nothing for the job with this layout.
  SearchEstimate estimate(const describe::Layout& layout);

 private:
  StepCosts costs_;
  cost::MemoryModel memory_;
  Bytes available_;
};

}  // namespace sextant::step
