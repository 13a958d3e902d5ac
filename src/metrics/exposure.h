// Which moments of a rank belong to one communication alone: nothing computes, what communicates is
// all of one group, and there is something to do: compute that was launched and has not begun, or a
// host that waits for its device. Without it (or with it hidden behind compute) that would have
// gone on, so this is the most that hiding or shrinking it can free on the rank. Where nothing was
// launched, the host is late and not the communication. Moments that two groups share are nobody's:
// taking one away leaves the other. Waiting for peers is among them: what of it is transfer, all
// ranks together show (summary.h).
#pragma once

#include <cstdint>
#include <vector>

#include "metrics/breakdown.h"
#include "metrics/view.h"

namespace sextant::metrics {

// The activity without the communication that nothing waits for: nothing computes beside it and
// nothing that would was launched. Those moments are the host's, as when nothing runs.
Activity without_unawaited(const View& view, const RankLanes& rank, Activity activity);

// Of communications of a rank, by start: how long each has the rank to itself. Of several of one
// group at once the one that began first. `spans`: numbers in Timeline::spans(), all of the rank's
// communications, by start.
std::vector<std::int64_t> times_alone(const View& view, const RankLanes& rank,
                                      const Activity& activity,
                                      const std::vector<std::uint32_t>& spans);

}  // namespace sextant::metrics
