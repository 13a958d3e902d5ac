// Names of collective operations, shared by what a step must send and by what was measured.
#pragma once

#include <array>
#include <cstdint>

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

// What nccl-tests multiplies bytes / time by to get its bus bandwidth: the bytes that pass every
// device of a ring, a byte of the operation. Source: nccl-tests, doc/PERFORMANCE.md.
// REQUIRES: ranks ≥ 1.
constexpr double bus_share(CollectiveOp op, std::int64_t ranks) {
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  switch (op) {
    case CollectiveOp::kAllReduce:
      return 2.0 * others;
    case CollectiveOp::kAllGather:
    case CollectiveOp::kReduceScatter:
    case CollectiveOp::kAllToAll:
      return others;
    case CollectiveOp::kSendReceive:
    case CollectiveOp::kBroadcast:
      break;
  }
  return 1.0;
}

}  // namespace sextant::describe
