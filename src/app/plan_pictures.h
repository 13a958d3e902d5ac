// The pictures of a plan as files.
#pragma once

#include <string>
#include <vector>

#include "app/answered.h"
#include "app/plan_problem.h"
#include "app/plan_search.h"
#include "base/result.h"
#include "explain/plan_view.h"

namespace sextant::app {

struct PlanPictures {
  std::vector<Artifact> files;
  std::vector<std::string> missing;  // "no timeline: …"
};
// memory, timeline, waterfall, front and heat-map below the request's folder, with the wishes'
// ending. REQUIRES: the answer has a plan.
Result<PlanPictures> plan_pictures(const PlanProblem& of, const PlanSearch& searched,
                                   const explain::PlanAnswer& answer, const PlanRequest& request,
                                   const PlanWishes& wishes);

}  // namespace sextant::app
