// Parameters that one rank holds, by the group of ranks that holds their copies.
//
// The sums of parameter_shapes.h. Tensor parallelism splits matrices and leaves norms, routers and
// MLA's down-projections whole; expert parallelism deals experts out; the pipeline deals layers.
// What data parallelism shards on top of that (ZeRO, FSDP) is not applied here.
#pragma once

#include <cstdint>

#include "describe/layout/job.h"
#include "workload/shard.h"
#include "workload/stages.h"

namespace sextant::workload {

struct Weights {
  std::int64_t dense = 0;    // copies: the dp × cp group
  std::int64_t experts = 0;  // copies: the expert group
  [[nodiscard]] std::int64_t total() const { return dense + experts; }
  Weights& operator+=(const Weights& other) {
    dense += other.dense;
    experts += other.experts;
    return *this;
  }
  friend Weights operator*(const Weights& weights, std::int64_t times) {
    return {weights.dense * times, weights.experts * times};
  }
};

// Key and value heads of a tensor-parallel rank: kv heads are repeated where there are fewer than
// ranks. Source: Megatron-LM d98e8a64, transformer_config.py (num_query_groups).
constexpr std::int64_t local_kv_heads(std::int64_t kv_heads, std::int64_t tp) {
  return kv_heads >= tp ? divided_up(kv_heads, tp) : 1;
}

// One block on one rank. REQUIRES: the sizes passed check_size.
Weights block_weights(const describe::Model& model, const describe::Block& block,
                      const Shard& shard);
// Token and position embeddings and their norm.
Weights embedding_weights(const describe::Model& model, const Shard& shard);
// Final norm and output head. A tied head is a copy of its own where the last stage is not the
// first (Megatron keeps the two in step by an all-reduce).
Weights head_weights(const describe::Model& model, const Shard& shard);
// One depth of multi-token prediction: its projection and norms, and with its block.
Weights mtp_own_weights(const describe::Model& model, const Shard& shard);
Weights mtp_weights(const describe::Model& model, const Shard& shard);

Weights stage_weights(const describe::Model& model, const Stage& stage, const Shard& shard);

// Adapter parameters of one block (they are all that is trained).
std::int64_t lora_weights(const describe::Model& model, const describe::Block& block,
                          const describe::Lora& lora, const Shard& shard);

}  // namespace sextant::workload
