// From the user's own layout to the plan: the changes worth making, the one that gains most for
// each key first.
#pragma once

#include "app/plan_problem.h"
#include "explain/plan_view.h"

namespace sextant::app {

// Each step takes the plan's value of one to three keys, or of all that are left: those that are
// legal, fit, and gain most for each key; a key that adds nothing is left alone. It ends where
// less than half a percent is to be had.
// REQUIRES: `plan` is legal and fits.
explain::PlanPath plan_path(const PlanProblem& of, const describe::Layout& users,
                            const describe::Layout& plan);

}  // namespace sextant::app
