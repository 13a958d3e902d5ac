#include "cost/comm/torus_time.h"

#include <algorithm>

#include "workload/wire.h"

namespace sextant::cost {

using describe::CollectiveOp;

std::array<TorusAxis, 3> torus_axes(const describe::Cluster& cluster) {
  constexpr std::int64_t kCube = 4;
  // Sides of a slice are in no order of the pod's.
  const auto is_side_of_pod = [&](std::int64_t chips) {
    return std::any_of(cluster.system.torus.begin(), cluster.system.torus.end(),
                       [&](const auto& side) { return side && side->value == chips; });
  };
  std::array<TorusAxis, 3> axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t chips = cluster.torus[i];
    const bool cubes = cluster.system.scale_up == describe::ScaleUp::kIci3d && chips % kCube == 0;
    axes[i] = {chips, chips > 1 && (cubes || is_side_of_pod(chips))};
  }
  return axes;
}

TorusTerms torus_time(CollectiveOp op, Bytes bytes, const std::array<TorusAxis, 3>& axes,
                      const TorusLinks& links) {
  std::int64_t chips = 1;
  std::int64_t longest = 0;
  double directions = 0.0;
  double crowded = 0.0;  // chips a direction of the axis that is the longest way round
  for (const TorusAxis& axis : axes) {
    if (axis.chips < 2) {
      continue;
    }
    const double ways = axis.ring ? 2.0 : 1.0;
    chips *= axis.chips;
    directions += ways;
    longest = std::max(longest, axis.ring ? axis.chips / 2 : axis.chips - 1);
    crowded = std::max(crowded, static_cast<double>(axis.chips) / ways);
  }
  if (chips < 2) {
    return {};
  }
  const double rounds = op == CollectiveOp::kAllReduce ? 2.0 : 1.0;
  const Seconds hops = links.hop * (rounds * static_cast<double>(longest));
  switch (op) {
    case CollectiveOp::kSendReceive:
      return {links.hop, bytes / links.rate};
    case CollectiveOp::kAllToAll:
      return {hops, bytes * (crowded / 4.0) / links.rate};
    case CollectiveOp::kAllReduce:
    case CollectiveOp::kAllGather:
    case CollectiveOp::kReduceScatter:
    case CollectiveOp::kBroadcast:
      break;
  }
  return {hops, bytes * workload::wire_share(op, chips) / (links.rate * directions)};
}

}  // namespace sextant::cost
