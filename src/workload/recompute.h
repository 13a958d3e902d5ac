// What a stage computes a second time in its backward pass, under a recomputation policy.
//
// Two questions, kept apart: which layers of a stage run again as a whole (`full`) or in part
// (`selective`), and which parts of a layer those are. Embedding, head and loss never run again.
// Both the operators and the memory of activations are read from here: what runs again was not
// kept.
//
// Modules follow Megatron Core's --recompute-modules. Source: Megatron-LM d98e8a64,
// megatron/core/transformer/transformer_config.py (recompute_modules), transformer_block.py
// (_checkpointed_forward), multi_token_prediction.py.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "describe/layout/layout.h"
#include "describe/model/model.h"
#include "workload/operator.h"
#include "workload/stages.h"

namespace sextant::workload {

// A set of parts, one bit each.
using PartMask = std::uint64_t;
static_assert(kPartWords.size() <= 64);

constexpr PartMask mask_of(Part part) {
  return PartMask{1} << static_cast<unsigned>(part);
}
constexpr PartMask mask_of(std::initializer_list<Part> parts) {
  PartMask mask = 0;
  for (const Part part : parts) {
    mask |= mask_of(part);
  }
  return mask;
}
constexpr bool holds(PartMask mask, Part part) {
  return (mask & mask_of(part)) != 0;
}

// Everything that a layer can hold (the projection of a multi-token-prediction layer too).
inline constexpr PartMask kLayerParts =
    ((PartMask{1} << kPartWords.size()) - 1) &
    ~mask_of({Part::kEmbedding, Part::kFinalNorm, Part::kHead, Part::kLoss, Part::kOptimizer});

// Parts that a selective policy's modules compute again; 0 unless the policy is selective. No
// module named means the attention core; "every second layer" alone names no part.
PartMask recomputed_parts(const describe::RecomputePolicy& policy, describe::Framework framework);

// Parts that run again where this block is recomputed as a whole. PyTorch's non-reentrant
// checkpoint stops, and XLA removes dead code, before a last product that no gradient needs: the
// down projection of a dense layer without a norm after it.
// Source: torch/utils/checkpoint.py (set_checkpoint_early_stop, on by default); jax.checkpoint
// ("policies"): what the backward pass does not read is not recomputed.
PartMask parts_of_whole_layer(const describe::Block& block, describe::Framework framework);

// Layers of a stage that run again as a whole, and those of which only recomputed_parts() do. The
// rest keep everything.
struct RecomputedLayers {
  std::int64_t full = 0;
  std::int64_t selective = 0;
  bool operator==(const RecomputedLayers&) const = default;
};

// Does "every second layer" stand among the modules?
bool skips_layers(const describe::RecomputePolicy& policy);

// Is the layer at `position` (0 …) of a stage recomputed as a whole? Uniform: every layer is, in
// chunks of policy.layers. Block: the first policy.layers of each stage. Every second layer: the
// 2nd, 4th … of the stage (torchtitan counts so; it carries the count on over a rank's stages).
constexpr bool recomputed_whole(const describe::RecomputePolicy& policy, bool every_second,
                                std::int64_t position) {
  if (policy.granularity == describe::Recompute::kFull) {
    return policy.method == describe::RecomputeMethod::kUniform || policy.layers == 0 ||
           position < policy.layers;
  }
  return policy.granularity == describe::Recompute::kSelective && every_second && position % 2 == 1;
}

// Of all `layers` of a stage.
RecomputedLayers recomputed_layers(const describe::RecomputePolicy& policy, std::int64_t layers);

// Of the stage's layers that hold this block of Model::blocks.
RecomputedLayers recomputed_layers(const describe::RecomputePolicy& policy,
                                   const describe::Model& model, const Stage& stage,
                                   std::int64_t block);

// Of a stage's multi-token-prediction layers: Megatron recomputes them as a whole under the
// uniform method and leaves them alone under the block method.
RecomputedLayers recomputed_mtp_layers(const describe::RecomputePolicy& policy,
                                       std::int64_t mtp_layers);

}  // namespace sextant::workload
