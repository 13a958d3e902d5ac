// Which part of a collective's whole tensor leaves one rank.
#pragma once

#include <cstdint>

#include "describe/collective.h"

namespace sextant::workload {

// Of the larger of input and output, at the least possible traffic: 2(n-1)/n for an all-reduce,
// all of it for a message, (n-1)/n for the others (a broadcast's on average over the ranks).
// Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
// MPICH", IJHPCA 19(1), 2005, sections 4.1 to 4.5.
constexpr double wire_share(describe::CollectiveOp op, std::int64_t ranks) {
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  switch (op) {
    case describe::CollectiveOp::kAllReduce:
      return 2.0 * others;
    case describe::CollectiveOp::kSendReceive:
      return 1.0;
    case describe::CollectiveOp::kAllGather:
    case describe::CollectiveOp::kReduceScatter:
    case describe::CollectiveOp::kAllToAll:
    case describe::CollectiveOp::kBroadcast:
      break;
  }
  return others;
}

}  // namespace sextant::workload
