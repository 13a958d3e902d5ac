// One search for plans, with how long it took, and what of it is shown.
#pragma once

#include <vector>

#include "app/plan_problem.h"
#include "app/plan_request.h"
#include "base/units.h"
#include "explain/plan_view.h"
#include "search/find.h"

namespace sextant::app {

struct PlanSearch {
  search::Found found;
  Seconds time;
};

// What the request asks a search for: plans, threads, the front of the objective.
search::FindOptions find_options(const PlanRequest& request, const PlanWishes& wishes,
                                 const machine::StepMachine& machine);

PlanSearch search_plans(const search::Problem& problem, const search::FindOptions& options);

// The one fastest layout, for questions beside the main one; nothing where none is legal and fits,
// or the user has stopped it.
std::optional<search::Plan> fastest_plan(const search::Problem& problem, const PlanRequest& request,
                                         const PlanWishes& wishes);

// Fills plans, front and what became of the space; the winner by the objective comes first.
void add_plans(const PlanProblem& of, const PlanWishes& wishes, bool pareto,
               const PlanSearch& searched, explain::PlanAnswer& answer);

}  // namespace sextant::app
