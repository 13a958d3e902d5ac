// A model of the same kind with another hidden size: what a study of sizes varies.
//
// Kept: layers, head sizes, vocabulary, experts and how many a token reaches, state sizes. Scaled
// with the hidden size: numbers of heads (grouping kept as far as whole heads allow), widths of
// feed-forward parts and experts, latent ranks (both to the nearest multiple of 64).
#pragma once

#include <cstdint>

#include "describe/model/model.h"

namespace sextant::describe {

// The size of the result is not checked: check_size does. REQUIRES: hidden ≥ 1.
Model with_hidden(Model model, std::int64_t hidden);

}  // namespace sextant::describe
