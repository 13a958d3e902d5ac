// Identifiers as types: a RankId is not a NodeId, and neither is a count.
#pragma once

#include <compare>
#include <cstdint>

namespace sextant {

template <typename Tag>
struct Id {
  std::int64_t value = 0;
  constexpr auto operator<=>(const Id&) const = default;
};

using RankId = Id<struct RankTag>;      // one process = one device, 0 … world-1
using NodeId = Id<struct NodeTag>;      // one host
using StreamId = Id<struct StreamTag>;  // one ordered queue of work on a rank
using LayerId = Id<struct LayerTag>;    // position in the model, 0 = first block
using StageId = Id<struct StageTag>;    // pipeline stage, 0 … pp*vpp-1

}  // namespace sextant
