// What each pipeline stage holds, and which pipeline rank runs it.
#pragma once

#include <cstdint>
#include <vector>

#include "describe/layout/job.h"

namespace sextant::workload {

struct Stage {
  std::int64_t index = 0;          // 0 … pp·vpp − 1, in model order
  std::int64_t pipeline_rank = 0;  // who runs it
  std::int64_t first_layer = 0;
  std::int64_t layers = 0;
  std::vector<std::int64_t> blocks;  // how many of its layers hold each of Model::blocks
  bool embedding = false;            // the first stage
  bool head = false;                 // the last: final norm, head and loss
  std::int64_t mtp_layers = 0;       // multi-token-prediction blocks, on the last
};

// Stages in model order. REQUIRES: check_rules finds nothing for the job with this layout.
std::vector<Stage> stages_of(const describe::Job& job, const describe::Layout& layout);
inline std::vector<Stage> stages_of(const describe::Job& job) {
  return stages_of(job, job.layout);
}

// How many layers of a range hold each block, from one pass over the model.
class LayerIndex {
 public:
  explicit LayerIndex(const describe::Model& model);
  // Layers first … first + count − 1 that hold `block`. REQUIRES: the range lies inside the model.
  [[nodiscard]] std::int64_t holding(std::size_t block, std::int64_t first,
                                     std::int64_t count) const {
    const std::size_t row = block * stride_;
    return before_[row + static_cast<std::size_t>(first + count)] -
           before_[row + static_cast<std::size_t>(first)];
  }

 private:
  std::size_t stride_ = 0;
  std::vector<std::int64_t> before_;  // [block][layer]: layers before this one that hold the block
};

// The stage of that index, written over `stage` so that a search need not allocate.
void fill_stage(const describe::Job& job, const describe::Layout& layout, const LayerIndex& index,
                std::int64_t number, Stage& stage);

// The pipeline rank that runs a stage. Chunks go round the ranks (interleaving), down and up again
// (ZB-V, DualPipeV). Under DualPipe a second copy of stage s runs on rank pp − 1 − s as well.
std::int64_t pipeline_rank_of(std::int64_t stage, const describe::Layout& layout);

}  // namespace sextant::workload
