// Words of PyTorch's own, which the frameworks on top of it take as they are.
#pragma once

#include <array>

#include "describe/layout/layout.h"
#include "describe/words.h"

namespace sextant::emit {

// Context parallelism: all keys and values at once, or round the ring by all-to-all.
inline constexpr std::array<describe::Word<describe::CpMethod>, 2> kRotateWords{
    {{describe::CpMethod::kAllGather, "allgather"}, {describe::CpMethod::kP2pRing, "alltoall"}}};

}  // namespace sextant::emit
