// What would move a plan: the same layout with a faster part of the machine, and the best layout
// with one more node or more memory.
#pragma once

#include <vector>

#include "app/plan_problem.h"
#include "app/plan_request.h"
#include "explain/plan_view.h"

namespace sextant::app {

std::vector<explain::PlanShift> plan_shifts(const PlanProblem& of, const describe::Layout& layout,
                                            const PlanRequest& request, const PlanWishes& wishes,
                                            const Context& context);

}  // namespace sextant::app
