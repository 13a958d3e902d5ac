// Which stages of a pipeline cost the same, and which ranks then do.
#pragma once

#include <cstdint>
#include <vector>

#include "describe/layout/job.h"
#include "step/pipeline_places.h"
#include "workload/stages.h"

namespace sextant::step {

struct StagePlan {
  // Ranks that run the same kinds of stages.
  struct Ranks {
    std::int64_t first = 0;            // the first of them
    std::vector<std::uint16_t> kinds;  // of its stages, in model order
    std::vector<std::uint16_t> once;   // the same for `once`
  };
  std::vector<workload::Stage> kinds;  // one stage of each kind: the first
  std::vector<std::uint16_t> kind_of;  // by stage, in model order
  std::vector<Ranks> ranks;            // by their first rank
  std::vector<std::uint16_t> rank_of;  // by pipeline rank: which of `ranks`
  // Once a step, stages of one kind differ by whether scalars around the update go with them.
  std::vector<workload::Stage> once;
  std::vector<std::uint16_t> once_of;
};

// Stages that hold as many layers of each block, stand alike at the ends and between neighbours,
// and recompute the same, on ranks that lie alike. `once_apart`: what is sent once a step is not
// asked of `kinds`.
// REQUIRES: the layout is legal for the job.
StagePlan stage_plan(const describe::Job& job, const describe::Layout& layout,
                     const workload::LayerIndex& index, const PipelinePlaces& places,
                     bool once_apart);

}  // namespace sextant::step
