// Which parts each layer of a configuration has: the pattern of a model, before any size is read.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "describe/model/hf_family.h"
#include "describe/model/hf_fields.h"

namespace sextant::describe {

enum class MixerKind { kNone, kFullAttention, kLocalAttention, kDeltaNet, kMamba };
enum class FfnKind { kNone, kDense, kExperts };

struct LayerPlan {
  MixerKind mixer = MixerKind::kNone;
  FfnKind ffn = FfnKind::kNone;
  bool rotary = true;
  bool operator==(const LayerPlan&) const = default;
};

// One plan per layer, at most kLayerCounts.most.
Result<std::vector<LayerPlan>> layer_plans(HfFields& fields, const HfFamily& family);

// For each layer, whether its feed-forward part is a mixture of experts. REQUIRES: layers in
// kLayerCounts.
Result<std::vector<bool>> expert_layers(HfFields& fields, const HfFamily& family,
                                        std::int64_t layers);

// The block that multi-token prediction repeats: the last layer's, or attention and a feed-forward
// part where layers hold one part each.
LayerPlan mtp_plan(const std::vector<LayerPlan>& plans, const HfFamily& family);

}  // namespace sextant::describe
