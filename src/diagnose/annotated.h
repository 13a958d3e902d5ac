// A measured timeline with what a diagnosis found in it, to be looked at in Perfetto.
#pragma once

#include <span>

#include "diagnose/diagnosis.h"
#include "metrics/summary.h"
#include "timeline/timeline.h"

namespace sextant::diagnose {

// Adds to each rank a lane with its steps' windows and, above one another where they overlap, lanes
// with the intervals of evidence, each named after its rule. Times are the profile's own: of the
// recorder's clock, less what the profile adds to all of them where all ranks' profiles add the
// same. `measured` has the recorder's clock already and may be empty; of ranks that are not given
// nothing of it stays. Sorted.
timeline::Timeline annotated(const timeline::Timeline& measured,
                             std::span<const metrics::RankSummary> ranks,
                             std::span<const Finding> findings);

}  // namespace sextant::diagnose
