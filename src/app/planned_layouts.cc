#include "app/planned_layouts.h"

#include "search/find.h"
#include "search/objective.h"
#include "search/recommend.h"
#include "search/simplicity.h"

namespace sextant::app {

std::vector<search::PlanRow> planned_layouts(const search::Task& task,
                                             const describe::DifferenceSpreads& spreads,
                                             std::size_t most, const std::atomic<bool>* stop) {
  const search::Space space(task.problem);
  const search::Simplicity measure(space.choices(), task.problem.job, spreads);
  search::FindOptions options =
      search::find_options(search::Objective::kStep, task.machine, {.threads = 0, .stop = stop});
  options.top = most;
  options.simplest = {&measure, search::most_given_up(spreads)};
  const search::Found found = search::find_plans(space, options);
  std::vector<search::PlanRow> rows;
  if (found.plans.empty() || most == 0) {
    return rows;
  }
  const describe::Layout first =
      found.complete ? search::recommended(task.problem, found, measure, spreads).plan.layout
                     : found.plans.front().layout;
  rows.push_back(search::plan_row(task, first));
  for (const search::Plan& plan : search::by_objective(search::Objective::kStep, found)) {
    if (rows.size() < most && !search::same_idea(plan.layout, first)) {
      rows.push_back(search::plan_row(task, plan.layout));
    }
  }
  return rows;
}

}  // namespace sextant::app
