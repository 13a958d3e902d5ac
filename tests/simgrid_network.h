// The networks and traffic of cost/comm/link_load.h as flows in SimGrid, an independent simulator:
// its own routes, its own fair sharing, every message of every collective a flow that starts when
// the data it carries have arrived.
#pragma once

#include <span>
#include <vector>

#include "base/units.h"
#include "cost/comm/link_load.h"

namespace sextant {

struct SimulatedRun {
  std::vector<Seconds> ends;  // of each group; all start at 0
  [[nodiscard]] Seconds total() const;
};

// Trees send each message in so many `pieces`, one after the other on every edge; rings in one
// piece a rank; an all-to-all sends all its messages at once. Runs in a child process: SimGrid
// allows one engine in a process, and never takes it down cleanly. REQUIRES: pieces ≥ 1. Flows
// share a link equally only where all paths over it have the same latency, or none
// (simgrid_network.cc says why).
SimulatedRun simulate(const cost::NetworkShape& network, std::span<const cost::GroupTraffic> groups,
                      int pieces);

}  // namespace sextant
