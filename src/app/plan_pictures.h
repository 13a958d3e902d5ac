// The pictures of a plan as files.
#pragma once

#include <string>
#include <vector>

#include "app/plan_problem.h"
#include "app/plan_search.h"
#include "base/result.h"
#include "explain/plan_view.h"

namespace sextant::app {

// memory, timeline, waterfall, front and heat-map with the wishes' ending; notes say where they
// are, or why one is missing. REQUIRES: the answer has a plan.
Result<std::vector<std::string>> write_pictures(const PlanProblem& of, const PlanSearch& searched,
                                                const explain::PlanAnswer& answer,
                                                const PlanRequest& request,
                                                const PlanWishes& wishes);

}  // namespace sextant::app
