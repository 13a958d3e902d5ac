// How ranks came to their collectives, as recorded: each has a transfer, which is what it took the
// last to come, and the waiting of all others. No clock but each rank's own is asked.
#pragma once

#include <cstdint>
#include <vector>

#include "diagnose/meetings.h"
#include "metrics/summary.h"

namespace sextant::diagnose {

struct RankArrivals {
  std::int64_t waiting_ns = 0;
  std::int64_t meetings = 0;
  std::int64_t last = 0;  // of these, to how many it came last; of equals all
};

struct Arrivals {
  std::vector<RankArrivals> ranks;  // as Summary::ranks
  std::int64_t transfer_ns = 0;     // of each meeting once
  std::int64_t waiting_ns = 0;      // of all ranks
};

// Of collectives that end together on all ranks, and of messages. Zero for whole jobs' traces that
// show transfers alone.
Arrivals arrivals_of(const metrics::Summary& summary, const Meetings& meetings);

}  // namespace sextant::diagnose
