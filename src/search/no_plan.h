// Why a problem has no plan: keys that contradict each other, or memory that is short, and the
// nearest change that helps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "describe/data_store.h"
#include "search/find.h"
#include "search/task.h"

namespace sextant::search {

// The layout that needs the least memory: the smallest microbatch, all recomputed, states spread as
// far as they go, over every mesh. Uneven splits and chunks are not tried.
struct Lean {
  describe::Layout layout;
  Bytes needed;
};
std::optional<Lean> leanest(const Problem& problem);

// A change that makes something fit.
struct Remedy {
  std::string what;                // "recompute freed", "activation_offload=1", "64 devices"
  std::optional<double> headroom;  // the change is of the headroom: the largest share that fits
  std::string words;               // else the layout that fits then
  Bytes needed;
  Bytes available;
};

struct NoPlan {
  std::vector<describe::Violation> broken;  // rules that the fixed keys break by themselves
  std::vector<std::string> freed;           // "tp=8": freed alone, there are layouts
  std::optional<PlanRow> leanest;           // needs the least memory
  Bytes missing;                            // of it
  std::vector<Remedy> changes;              // what would make it fit, the nearest first
};
// REQUIRES: a whole search found no plan.
NoPlan no_plan(const Task& task, const Settled& settled, const describe::DataStore& data);

}  // namespace sextant::search
