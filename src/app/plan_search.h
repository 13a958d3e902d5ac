// One search for plans, with how long it took, and what of it is shown.
#pragma once

#include <optional>
#include <vector>

#include "app/plan_problem.h"
#include "app/plan_request.h"
#include "base/units.h"
#include "describe/difference_spread.h"
#include "explain/plan_view.h"
#include "search/find.h"
#include "search/objective.h"
#include "search/simplicity.h"

namespace sextant::app {

struct PlanSearch {
  search::Found found;
  Seconds time;
  std::optional<search::Simplicity> measure;  // of what is recommended
};

search::Effort effort_of(const PlanRequest& request, const PlanWishes& wishes);

// What the request asks a search for: plans, threads, the front of the objective.
search::FindOptions find_options(const PlanRequest& request, const PlanWishes& wishes,
                                 const machine::StepMachine& machine);

// With the recommended one where it is known how well differences are foretold.
PlanSearch search_plans(const search::Problem& problem, search::FindOptions options,
                        const PlanWishes& wishes,
                        const std::optional<describe::DifferenceSpreads>& differences);

// Fills plans, front and what became of the space; the winner by the objective comes first.
void add_plans(const PlanProblem& of, const PlanWishes& wishes, bool pareto,
               const PlanSearch& searched, explain::PlanAnswer& answer);

// Fills what is recommended. REQUIRES: add_plans() was called.
void add_recommended(const PlanProblem& of, const PlanWishes& wishes, const PlanSearch& searched,
                     explain::PlanAnswer& answer);

}  // namespace sextant::app
