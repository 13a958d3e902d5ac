// The ways to deal layers to stages, and to recompute a part of a stage's layers.
#pragma once

#include <cstdint>
#include <vector>

#include "search/choices.h"

namespace sextant::search {

// Even; embedding and loss counted as layers; or the first stage up to two and the last up to four
// layers lighter, either one heavier than the others, the rest spread evenly. Each way once.
std::vector<describe::PipelineSplit> splits_of(const Problem& problem, const Choices& choices,
                                               std::int64_t stages);

// A quarter, a half and three quarters of the layers of a stage recomputed (Megatron's block
// method), where these are different numbers.
void add_part_policies(std::int64_t layers, std::int64_t stages,
                       std::vector<describe::RecomputePolicy>& policies);

}  // namespace sextant::search
