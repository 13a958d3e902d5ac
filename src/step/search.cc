#include "step/search.h"

#include "cost/memory/fit.h"

namespace sextant::step {

StepSearch::StepSearch(const describe::Job& job, const StepModel& model,
                       const describe::MemoryFacts& memory)
    : costs_(job, model), memory_(job, memory), available_(job.cluster.device.usable_memory()) {}

SearchEstimate StepSearch::estimate(const describe::Layout& layout) {
  const cost::RankMemory fullest = memory_.fullest(layout);
  return {.time = costs_.terms(layout),
          .fullest_rank = fullest.pipeline_rank,
          .allocated = fullest.allocated,
          .device = fullest.device,
          .least = fullest.least,
          .fits = !cost::memory_rejection(fullest, available_)};
}

}  // namespace sextant::step
