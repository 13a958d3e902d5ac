// Who follows whom within a rank, and an order in which all nodes of a graph can be replayed.
#pragma once

#include <cstdint>
#include <vector>

#include "diagnose/replay_graph.h"

namespace sextant::diagnose {

// Adds the dependencies of the nodes of one rank and step, which begin with `first`, go to the end
// of the graph and come by start. `lanes`: of each. Overlaps of up to `same_ns`, and of no more
// than a quarter of either node, are none: then the later one follows.
void follow(ReplayGraph& graph, std::uint32_t first, const std::vector<std::int64_t>& lanes,
            std::int64_t same_ns);

// Fills ReplayGraph::order. Where the record contradicts itself (A waited for B, and B for A), the
// node that started first goes ahead.
void put_in_order(ReplayGraph& graph);

}  // namespace sextant::diagnose
