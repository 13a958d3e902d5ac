// Collective operations: their names, shared by what a step must send, by what was measured and by
// what a profile shows, and what their bandwidth is counted in.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace sextant {

enum class CollectiveOp {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kSendReceive,
  kBroadcast
};
// The first spelling of an operation is the one printed; further ones are accepted.
inline constexpr std::array<std::pair<CollectiveOp, std::string_view>, 8> kCollectiveOpWords{
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

}  // namespace sextant
