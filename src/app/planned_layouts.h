// Layouts that «tune» starts from: what «plan» recommends, then the fastest of other ideas.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "describe/difference_spread.h"
#include "search/task.h"

namespace sextant::app {

// At most `most`; none where nothing fits. Where `stop` ends the search early, the fastest that was
// found is the first.
std::vector<search::PlanRow> planned_layouts(const search::Task& task,
                                             const describe::DifferenceSpreads& spreads,
                                             std::size_t most, const std::atomic<bool>* stop);

}  // namespace sextant::app
