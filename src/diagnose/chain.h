// Whom all the waiting of a job goes back to, and why.
//
// In a replay of the job as recorded each moment of waiting is for the rank that came last. What
// made it late is what it did for longer than its peers did the same since they were last together:
// its own compute, its host, its data, or what it had caught from another rank when it waited for
// that one earlier. So along each rank's path goes an account of excess, by the rank and cause
// where it arose; ranks that meet leave with the account of the last to come, and what two accounts
// have in common cancels out. Waiting that no account explains is the schedule's (a pipeline's
// bubble), or too many small things.
#pragma once

#include <cstdint>
#include <vector>

#include "diagnose/peers.h"
#include "diagnose/replay.h"

namespace sextant::diagnose {

// Lateness of one rank for one cause.
struct Root {
  std::uint32_t rank = 0;  // place in Summary::ranks; of a link: of the first of its group
  LateCause cause = LateCause::kCompute;
  std::int64_t waiting_ns = 0;  // of all ranks in all replayed steps, that it explains
  std::int64_t steps = 0;       // in which it explains at least half as much as in the mean step
  std::int64_t meetings = 0;    // in which it explains any
  // The node of the rank that was longest beyond its peers', and by how much.
  std::uint32_t worst_node = metrics::kNone;
  std::int64_t worst_ns = 0;
};

struct Chain {
  std::vector<Root> roots;      // what explains most waiting first
  std::int64_t waiting_ns = 0;  // all of it
  [[nodiscard]] double share_of(const Root& root) const;
};

// Linear in nodes; 136 bytes for each of a step's while it works. `replay`: of actual_lengths();
// `peers`: medians.
Chain chain_of(const ReplayGraph& graph, const Replay& replay, const PeerTotals& peers);

}  // namespace sextant::diagnose
