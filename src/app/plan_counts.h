// How many devices: the fewest that fit or are in time, or those that cost least a token.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/plan_problem.h"
#include "base/result.h"
#include "explain/plan_view.h"

namespace sextant::app {

// Parts of a node that divide it, and numbers of nodes that are a divisor of the cluster's times a
// power of two; from few to many, the whole cluster last.
std::vector<std::int64_t> device_counts(const describe::Cluster& cluster);

struct Counted {
  std::vector<explain::PlanCount> counts;  // those asked
  std::optional<PlanProblem> chosen;       // nothing where none will do
  bool complete = true;                    // false: stopped by the user
};
// REQUIRES: the objective is devices or cost.
Result<Counted> count_devices(const PlanProblem& of, const PlanRequest& request,
                              const PlanWishes& wishes, const Context& context);

}  // namespace sextant::app
