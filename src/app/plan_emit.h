// A plan as the files of a framework, with the prediction in their comments.
#pragma once

#include "app/answered.h"
#include "app/context.h"
#include "app/plan_problem.h"
#include "app/plan_request.h"
#include "base/result.h"
#include "explain/plan_view.h"

namespace sextant::app {

// The framework whose words ‹emit› asks for; "" where it is not given. An Error where it is not the
// one that ‹framework› names: what one can run another may not.
Result<std::string> emitted_framework(const PlanRequest& request);

// With artifacts where the request names a folder.
Result<Answered<explain::EmitAnswer>> plan_files(const PlanProblem& of, const search::PlanRow& best,
                                                 const PlanRequest& request,
                                                 const Context& context);

}  // namespace sextant::app
