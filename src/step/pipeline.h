// How long the microbatches of a step take to pass through the pipeline, by its schedule
// (schedule/): simulated, or in closed form where that is the same.
#pragma once

#include <optional>
#include <vector>

#include "describe/layout/layout.h"
#include "step/stage_cost.h"

namespace sextant::step {

struct PipelineSpan {
  Seconds whole;  // from the first forward to the last backward
  Seconds quiet;  // the same if messages between stages took no time
};

// Stages in model order. Nothing where the schedule cannot run so many microbatches (schedule's
// check_shape): no framework would either. Messages hold the sender where the framework does not
// hide them, else only the receiver waits.
// REQUIRES: stages.size() = pp · vpp, microbatches ≥ 1.
std::optional<PipelineSpan> pipeline_span(const std::vector<StageCost>& stages,
                                          const describe::Layout& layout,
                                          std::int64_t microbatches);

}  // namespace sextant::step
