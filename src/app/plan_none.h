// Why a problem has no plan: keys that contradict each other, or memory that is short, and the
// nearest change that helps.
#pragma once

#include "app/plan_problem.h"
#include "base/units.h"
#include "explain/plan_view.h"
#include "search/find.h"

namespace sextant::app {

// The layout that needs the least memory: the smallest microbatch, all recomputed, states spread as
// far as they go, over every mesh. Uneven splits and chunks are not tried.
struct Lean {
  describe::Layout layout;
  Bytes needed;
};
std::optional<Lean> leanest(const search::Problem& problem);

// REQUIRES: a whole search found no plan.
explain::NoPlan no_plan(const PlanProblem& of, const search::Settled& settled,
                        const Context& context);

}  // namespace sextant::app
