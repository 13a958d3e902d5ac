// Whose a recording is, where another than its reader knows.
#pragma once

#include "base/ids.h"
#include "timeline/recording.h"

namespace sextant::profile {

// The recording's ranks become, in their order, those from `first` on, and are stated.
void renumber_ranks(timeline::Recording& recording, RankId first);

}  // namespace sextant::profile
