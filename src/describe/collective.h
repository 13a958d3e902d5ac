// Names of collective operations, shared by what a step must send and by what was measured.
#pragma once

#include <array>

#include "describe/words.h"

namespace sextant::describe {

enum class CollectiveOp {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kSendReceive,
  kBroadcast
};
inline constexpr std::array<Word<CollectiveOp>, 8> kCollectiveOpWords{
    {{CollectiveOp::kAllReduce, "all_reduce"},
     {CollectiveOp::kAllGather, "all_gather"},
     {CollectiveOp::kReduceScatter, "reduce_scatter"},
     {CollectiveOp::kAllToAll, "alltoall"},
     {CollectiveOp::kAllToAll, "all_to_all"},
     {CollectiveOp::kSendReceive, "sendrecv"},
     {CollectiveOp::kSendReceive, "ping_pong"},
     {CollectiveOp::kBroadcast, "broadcast"}}};

}  // namespace sextant::describe
