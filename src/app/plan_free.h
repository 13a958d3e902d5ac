// What changes convergence, freed by name: --free gbs,precision,seq. The plan of every combination
// of their values, and the one that is best for a token.
#pragma once

#include <optional>
#include <vector>

#include "app/plan_problem.h"
#include "base/result.h"
#include "explain/plan_view.h"

namespace sextant::app {

struct Freed {
  std::vector<explain::PlanFreed> tried;  // in the order of the values; empty: nothing is freed
  std::optional<PlanProblem> chosen;      // nothing: nothing is freed, or no combination has a plan
};

// Batches from a quarter to four times the given one, sequences from half to twice the given length
// (with as many tokens a step), the formats of products that the device has.
Result<Freed> free_choices(const PlanProblem& of, const PlanRequest& request,
                           const PlanWishes& wishes, const Context& context);

}  // namespace sextant::app
