// From the user's own layout to the plan: the changes worth making, the one that gains most for
// each key first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search/task.h"

namespace sextant::search {

struct PlanStep {
  std::string change;  // "mbs=2,recompute=full"
  Seconds before;
  Seconds after;
  describe::Layout layout;  // after it
};
struct PlanPath {
  PlanRow start;
  std::vector<describe::Violation> broken;  // rules that the start breaks
  Bytes missing;                            // of the start; 0 or less: it fits
  std::vector<PlanStep> steps;              // the most gain for each key first
  PlanRow end;                              // after all of them
  std::optional<Seconds> measured;          // of the start, where its log says so
  double scale = 1.0;  // measured over predicted: of the times in `steps`, not of start and end
};

// Where the user stands: a layout, and what its own files break.
struct PathStart {
  describe::Layout layout;
  std::vector<describe::Violation> broken;
  std::optional<Seconds> measured = {};  // a step of it
};

// Each step takes the plan's value of one to three keys, or of all that are left: those that are
// legal, fit, and gain most for each key; a key that adds nothing is left alone. It ends where
// less than half a percent is to be had. Where the start was measured, the times of the steps are
// predicted ones times what it took over what was predicted of it: an error that both share.
// REQUIRES: `plan` is legal and fits.
PlanPath plan_path(const Task& task, const PathStart& users, const describe::Layout& plan);

}  // namespace sextant::search
