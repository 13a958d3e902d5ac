// plan: the best layout of a model on a cluster, why it is, and the files to run it.
#pragma once

#include "app/context.h"
#include "app/plan_request.h"
#include "base/result.h"

namespace sextant::app {

// Stopped by the user; what was found until then is answered.
inline constexpr int kExitInterrupted = 130;

// Exit code 1 where no layout is legal and fits, which the answer explains.
Result<Output> show_plan(const PlanRequest& asked, const Context& context);

}  // namespace sextant::app
