#include "diagnose/cross_path.h"

#include <algorithm>

namespace sextant::diagnose {
namespace {

using metrics::kNone;

constexpr std::size_t kTransfer = static_cast<std::size_t>(LateCause::kLink);

std::uint32_t done_last(const Replay& replay, const ReplayStep& step) {
  const auto from = replay.done_ns.begin();
  const auto last = std::max_element(from + step.first, from + step.end);
  return static_cast<std::uint32_t>(last - from);
}

void add_node(const ReplayGraph& graph, std::uint32_t node, std::int64_t took_ns, CrossPath& path) {
  const ReplayNode& of = graph.nodes[node];
  auto& sums = path.by_rank[of.rank];
  path.total_ns += took_ns;
  if (!of.is_work) {
    sums[kTransfer] += took_ns;
    return;
  }
  const WorkParts parts = parts_of(graph.summary->ranks[of.rank].work[of.place]);
  for (std::size_t part = 0; part < kWorkCauses; ++part) {
    sums[part] += parts[part];
  }
}

}  // namespace

CrossPath cross_path(const ReplayGraph& graph, const Replay& replay) {
  CrossPath path;
  path.by_rank.resize(graph.summary->ranks.size());
  for (const ReplayStep& step : graph.steps) {
    if (step.first == step.end) {
      continue;
    }
    std::uint32_t node = done_last(replay, step);
    while (node != kNone) {
      const std::uint32_t last = last_to_come(graph, replay, node);
      add_node(graph, last, replay.done_ns[node] - replay.came_ns[last], path);
      const std::uint32_t before = waited_for(graph, replay, last);
      path.changes += graph.nodes[last].rank != graph.nodes[node].rank ? 1 : 0;
      node = before;
    }
  }
  return path;
}

}  // namespace sextant::diagnose
