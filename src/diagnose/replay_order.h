// Who follows whom within a rank, and an order in which all nodes of a graph can be replayed.
#pragma once

#include <cstdint>
#include <vector>

#include "diagnose/replay_graph.h"

namespace sextant::diagnose {

// How one node follows another within a rank.
struct Following {
  // Overlaps of up to this, and of no more than a quarter of either node, are none.
  std::int64_t same_ns = 0;
  // On other lanes than its own a node follows all that had ended when it began; else only what
  // ended last before it, and after what it follows on its own lane. What was long over may have
  // been over by chance: the message that came while a rank still computed is not what its next
  // kernel waited for.
  bool keeps_all = false;
};

// Adds the dependencies of the nodes of one rank and step, which begin with `first`, go to the end
// of the graph and come by start. `lanes`: of each.
void follow(ReplayGraph& graph, std::uint32_t first, const std::vector<std::int64_t>& lanes,
            const Following& how);

// Fills ReplayGraph::order. Where the record contradicts itself (A waited for B, and B for A), the
// node that started first goes ahead.
void put_in_order(ReplayGraph& graph);

}  // namespace sextant::diagnose
