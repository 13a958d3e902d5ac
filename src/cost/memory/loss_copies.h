// How many bytes of logits live, for each of tokens × vocabulary.
#pragma once

#include "describe/layout/layout.h"
#include "describe/model/model.h"
#include "workload/saved_walk.h"

namespace sextant::cost {

struct LossCopies {
  double kept = 0.0;       // bytes an element from the loss's forward to its backward
  double forward = 0.0;    // on top of those, while the loss is computed
  double temporary = 0.0;  // on top of those, in its backward
};

LossCopies loss_copies(describe::LossKernel kernel, const workload::SavedRules& rules);

// Bytes that the final norm keeps for each element of the hidden state.
double final_norm_bytes(const describe::Model& model, const workload::SavedRules& rules);

}  // namespace sextant::cost
