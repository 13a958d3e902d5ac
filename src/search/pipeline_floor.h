// The least that a step can take on a pipeline whose stages are known.
//
// A rank r works through its stages for every microbatch, m times; it cannot begin before the
// first microbatch came through the ranks before it, and after its last backward pass that pass has
// still to go back through them:
//
//   step ≥ max over r of (m · time of r's stages + passes through the first stages of ranks 0 …
//   r−1)
//
// Where a schedule defers weight gradients, only the forward passes before it count. Of a stage
// some layers may be computed again.
#pragma once

#include <cstdint>
#include <vector>

#include "describe/step_facts.h"
#include "search/space.h"
#include "step/floor.h"

namespace sextant::search {

// So many layers of each stage take so much more.
struct Again {
  std::int64_t layers = 0;
  step::PassFloor each;
};

// A pipeline with the layers its stages hold (Space::held() of the split), and how often they run.
struct FilledPipeline {
  const Pipeline& pipeline;
  const std::vector<std::int64_t>& held;
  std::int64_t microbatches = 1;
};

// Keeps scratch space: one a thread.
class PipelineFloor {
 public:
  // `share`: of compute, StepFloor::compute_share.
  Seconds of(const FilledPipeline& filled, const step::StepFloor& floor, double share,
             const describe::StepFacts& facts, const Again& again = {});

 private:
  std::vector<step::PassFloor> first_;  // a rank's first stage
  std::vector<Seconds> all_;            // all of its stages
};

}  // namespace sextant::search
