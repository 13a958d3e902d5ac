// How a source counts floating-point operations when it prints TFLOP/s.
//
// A printed rate becomes a time only through the source's own count, so each convention is a
// formula on the model. Sources disagree on three things: whether causal attention counts half,
// whether recomputation counts, and whether the embedding counts as a product. A code outside this
// list is not guessed at.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "describe/model/model.h"

namespace sextant::measured {

enum class FlopsConvention {
  kModelCausal,   // MODEL_CAUSAL: 6 · products (head included, active experts) + attention, halved
  kModelFull,     // MODEL_FULL: the same with attention counted s × s
  kParamFull,     // PARAM6N_FULL: 6 · parameters (embedding included) + 12 · L · d · s
  kHardwareFull,  // HW_FULL: MODEL_FULL with the layers' forward pass twice, the head's once
};

// The convention whose code the text begins with; nothing for MFU, OTHER, UNKNOWN_MODEL and the
// like.
std::optional<FlopsConvention> flops_convention(std::string_view text);

// Operations of one training step for one token of a sequence of `seq` tokens. MTP layers are not
// counted. Sliding windows bound the attended length (their causal half included) in every
// convention.
Flops flops_per_token(const describe::Model& model, std::int64_t seq, FlopsConvention convention);

}  // namespace sextant::measured
