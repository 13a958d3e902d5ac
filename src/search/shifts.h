// What would move a plan: the same layout with a faster part of the machine or with a switch that
// no search changes, and the best layout with one more node or more memory; where the devices do
// not divide the batch, with a batch that they do, or with nodes left idle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "describe/data_store.h"
#include "search/objective.h"
#include "search/task.h"

namespace sextant::search {

// The winner's machine changed, or its cluster grown.
struct PlanShift {
  std::string what;  // "NIC x 2"
  Seconds step;      // of the same layout, or of `words` where another is meant
  std::string words;
  std::string why_not;  // nothing could be planned: the reason
  double tokens = 1.0;  // of its step over the plan's
};

// The batch nearest to `batch` that so many devices share evenly: a multiple of all of them, or of
// as large a part of them as leaves each some microbatches.
std::int64_t near_batch(std::int64_t batch, std::int64_t devices);

std::vector<PlanShift> plan_shifts(const Task& task, const describe::Layout& layout,
                                   const Effort& effort, const describe::DataStore& data);

}  // namespace sextant::search
