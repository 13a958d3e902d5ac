// How many parameters a model has, block by block: the same formulas feed memory, traffic and
// FLOPs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "describe/model/model.h"

namespace sextant::describe {

// Parameters of one block, by part. "Active" counts what one token passes through.
struct BlockParameters {
  std::int64_t mixer = 0;
  std::int64_t dense_ffn = 0;
  std::int64_t router = 0;
  std::int64_t routed_experts = 0;  // all of them
  std::int64_t active_experts = 0;  // topk of them
  std::int64_t shared_experts = 0;  // always on: their gate and the latent projections too
  std::int64_t norms = 0;
  [[nodiscard]] std::int64_t total() const {
    return mixer + dense_ffn + router + routed_experts + shared_experts + norms;
  }
  [[nodiscard]] std::int64_t active() const { return total() - routed_experts + active_experts; }
};

struct ModelParameters {
  std::int64_t embedding = 0;
  std::int64_t positions = 0;
  std::int64_t head = 0;        // 0 where tied
  std::int64_t final_norm = 0;  // and the embedding norm
  std::int64_t layers_total = 0;
  std::int64_t layers_active = 0;
  std::int64_t mtp =
      0;  // multi-token prediction: not part of total, as published counts leave it out
  std::vector<BlockParameters> blocks;  // parallel to Model::blocks
  [[nodiscard]] std::int64_t total() const {
    return embedding + positions + head + final_norm + layers_total;
  }
  [[nodiscard]] std::int64_t active() const { return total() - layers_total + layers_active; }
};

// REQUIRES: check_size(model) holds, so that no count overflows.
BlockParameters block_parameters(const Model& model, const Block& block);
ModelParameters model_parameters(const Model& model);

// Refuses a model with a size that is not positive where it must be, or with more than 10^16
// parameters in all (then int64 arithmetic everywhere downstream is safe).
Result<void> check_size(const Model& model);

}  // namespace sextant::describe
