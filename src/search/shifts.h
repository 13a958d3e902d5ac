// What would move a plan: the same layout with a faster part of the machine, and the best layout
// with one more node or more memory.
#pragma once

#include <string>
#include <vector>

#include "describe/data_store.h"
#include "search/objective.h"
#include "search/task.h"

namespace sextant::search {

// The winner's machine changed, or its cluster grown.
struct PlanShift {
  std::string what;  // "NIC x 2"
  Seconds step;      // of the same layout, or of `words` where searched again
  std::string words;
  std::string why_not;  // nothing could be planned: the reason
};

std::vector<PlanShift> plan_shifts(const Task& task, const describe::Layout& layout,
                                   const Effort& effort, const describe::DataStore& data);

}  // namespace sextant::search
