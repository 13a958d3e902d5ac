// The critical path of a job's step: the chain of work and transfers, over all ranks, that made it
// as long as it was. Walked back from what was done last; at a meeting it goes on with the rank
// that came last to it. So no moment of waiting lies on it, and its pieces add up to the step as it
// is replayed (replay.h).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "diagnose/peers.h"
#include "diagnose/replay.h"

namespace sextant::diagnose {

struct CrossPath {
  // Of all replayed steps, by rank (place in Summary::ranks) and by what it was at; transfers in
  // the place of LateCause::kLink, with the rank that came last.
  std::vector<std::array<std::int64_t, kWorkCauses + 1>> by_rank;
  std::int64_t total_ns = 0;
  std::int64_t changes = 0;  // from one rank to another
};

CrossPath cross_path(const ReplayGraph& graph, const Replay& replay);

}  // namespace sextant::diagnose
