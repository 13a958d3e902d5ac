// The memory of one pipeline rank, tensor by tensor: what an explanation shows below the totals.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "describe/layout/job.h"
#include "workload/operator.h"
#include "workload/saved_walk.h"
#include "workload/shard.h"
#include "workload/stages.h"
#include "workload/weights.h"

namespace sextant::cost {

// A tensor that a layer keeps from forward to backward, of one microbatch.
struct SavedTensor {
  workload::Part part = workload::Part::kInputNorm;
  std::string_view name;
  Bytes bytes;
  bool recomputed = false;  // the selective policy computes it again instead
};

struct BlockDetail {
  std::size_t block = 0;             // of Model::blocks
  std::int64_t layers = 0;           // of the stage
  std::int64_t whole = 0;            // of those, recomputed as a whole
  std::int64_t in_part = 0;          // of those, recomputed in part
  workload::Weights weights;         // of one layer
  std::vector<SavedTensor> tensors;  // largest first
};

struct StageDetail {
  workload::Stage stage;
  std::int64_t in_flight = 0;
  std::vector<BlockDetail> blocks;
};

struct MemoryDetail {
  workload::Shard shard;
  workload::SavedRules rules;
  Bytes checkpoint;  // a layer's input
  workload::Weights embedding;
  workload::Weights head;
  workload::Weights largest_layer;
  std::vector<StageDetail> stages;
};

// REQUIRES: check_rules(job) finds nothing, 0 ≤ rank < pp.
MemoryDetail memory_detail(const describe::Job& job, std::int64_t rank);

}  // namespace sextant::cost
