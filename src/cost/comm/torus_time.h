// How long a collective takes on a torus of chips that are joined to their neighbours only (TPU).
//
// A collective over some axes of the torus uses their links together: two directions of an axis
// that closes into a ring, one where it does not (an axis shorter than a full ring).
//   all-gather, reduce-scatter   V (n-1)/n over all those links
//   all-reduce                   both, one after the other
//   all-to-all                   k chips of a ring pass on k/8 of a chip's buffer each way (a chunk
//                                travels k/4 links, and there are 2 directions), of a line k/4
//   message                      one link, one hop
// and never less than the hops of the longest axis. Source: How to Scale Your Model
// (jax-ml.github.io/scaling-book), chapter on sharded matrices.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.h"
#include "describe/cluster/cluster.h"
#include "describe/collective.h"

namespace sextant::cost {

struct TorusAxis {
  std::int64_t chips = 1;  // of the group along it; 1: not used
  bool ring = false;       // its ends are joined
};
struct TorusLinks {
  BytesPerSecond rate;  // of a link and direction, as reached
  Seconds hop;
};
struct TorusTerms {
  Seconds hops;
  Seconds transfer;
  [[nodiscard]] Seconds total() const { return hops > transfer ? hops : transfer; }
};

// The axes of one slice. An axis closes into a ring where it is as long as a side of the pod, and
// on a three-dimensional torus (built of cubes of 4 x 4 x 4 that optical switches join) where it is
// a multiple of 4. Source: the same book's chapter on TPUs.
std::array<TorusAxis, 3> torus_axes(const describe::Cluster& cluster);

// Bytes as for cost::CommLines. REQUIRES: rate > 0, chips ≥ 1.
TorusTerms torus_time(describe::CollectiveOp op, Bytes bytes, const std::array<TorusAxis, 3>& axes,
                      const TorusLinks& links);

}  // namespace sextant::cost
