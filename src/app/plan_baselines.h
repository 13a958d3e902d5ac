// Other ways to choose a layout for the same problem, and whether anything better was missed.
#pragma once

#include <string>
#include <vector>

#include "app/plan_problem.h"
#include "app/plan_request.h"
#include "explain/plan_view.h"

namespace sextant::app {

// "megatron-rule,alpa": each with what it finds and how often it asks the cost model. An Error
// where a name is not one of them.
Result<std::vector<explain::PlanBaseline>> plan_baselines(const PlanProblem& of,
                                                          const std::string& names);

}  // namespace sextant::app
