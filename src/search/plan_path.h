// From the user's own layout to the plan: the changes worth making, the one that gains most for
// each key first.
#pragma once

#include <string>
#include <vector>

#include "search/task.h"

namespace sextant::search {

struct PlanStep {
  std::string change;  // "mbs=2,recompute=full"
  Seconds before;
  Seconds after;
};
struct PlanPath {
  PlanRow start;
  std::vector<describe::Violation> broken;  // rules that the start breaks
  Bytes missing;                            // of the start; 0 or less: it fits
  std::vector<PlanStep> steps;              // the most gain for each key first
  PlanRow end;                              // after all of them
};

// Where the user stands: a layout, and what its own files break.
struct PathStart {
  describe::Layout layout;
  std::vector<describe::Violation> broken;
};

// Each step takes the plan's value of one to three keys, or of all that are left: those that are
// legal, fit, and gain most for each key; a key that adds nothing is left alone. It ends where
// less than half a percent is to be had.
// REQUIRES: `plan` is legal and fits.
PlanPath plan_path(const Task& task, const PathStart& users, const describe::Layout& plan);

}  // namespace sextant::search
