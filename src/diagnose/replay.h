// A job replayed from its graph with given lengths of its nodes: how long its steps then take.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"
#include "diagnose/replay_graph.h"

namespace sextant::diagnose {

struct Replay {
  std::vector<std::int64_t> step_ns;  // of each step of the graph
  // Of each node, from the beginning of its step: when it came and when it was done. A meeting's
  // nodes are done when the last has come and their transfer is over.
  std::vector<std::int64_t> came_ns;
  std::vector<std::int64_t> done_ns;
  [[nodiscard]] Seconds mean_step() const;  // 0 of no steps
};

// REQUIRES: a length for each node. Linear in nodes and dependencies.
Replay replayed(const ReplayGraph& graph, std::span<const std::int64_t> lengths_ns);

// The recorded lengths: own work, and transfers without the waiting that the replay finds itself.
std::vector<std::int64_t> actual_lengths(const ReplayGraph& graph);

// The member of the node's meeting that came last, the first of equals; the node itself if alone.
std::uint32_t last_to_come(const ReplayGraph& graph, const Replay& replay, std::uint32_t node);

// What the node had to wait for: of what it depends on, that which was done last; kNone: nothing.
std::uint32_t waited_for(const ReplayGraph& graph, const Replay& replay, std::uint32_t node);

}  // namespace sextant::diagnose
