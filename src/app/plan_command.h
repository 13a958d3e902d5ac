// plan: the best layout of a model on a cluster, why it is, and the files to run it.
#pragma once

#include "app/answered.h"
#include "app/context.h"
#include "app/plan_request.h"
#include "base/result.h"
#include "explain/plan_view.h"

namespace sextant::app {

// The outcome is no where no layout is legal and fits, which the answer explains, or none that does
// meets the deadline; interrupted where it was stopped.
Result<Answered<explain::PlanAnswer>> plan(const PlanRequest& asked, const Context& context);

}  // namespace sextant::app
