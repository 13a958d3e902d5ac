// Why a layout the user names is not the plan (search/why_not.h), from its words.
#pragma once

#include <string>

#include "app/plan_problem.h"
#include "base/result.h"
#include "search/why_not.h"

namespace sextant::app {

// `best`: the plan, nothing where there is none. Keys that the text leaves out are the framework's
// defaults; formats and kernels are the problem's. An Error where the text is no layout.
Result<search::WhyNot> why_not(const PlanProblem& of, const std::string& text,
                               const describe::Layout* best);

}  // namespace sextant::app
