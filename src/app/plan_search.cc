#include "app/plan_search.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/quantity_text.h"

namespace sextant::app {
namespace {

constexpr std::size_t kHeatMapPlans = 64;

std::string progress_text(const search::Progress& progress) {
  std::string text = fmt::format("{:.4g}", progress.settled);
  if (progress.possible > 0.0) {
    text += fmt::format(" of {:.4g}", progress.possible);
  }
  text += " layouts settled";
  return progress.best > Seconds() ? text + ", best " + to_text(progress.best) : text;
}

}  // namespace

search::Effort effort_of(const PlanRequest& request, const PlanWishes& wishes) {
  return {.threads = wishes.threads, .stop = request.stop};
}

search::FindOptions find_options(const PlanRequest& request, const PlanWishes& wishes,
                                 const machine::StepMachine& machine) {
  search::FindOptions options =
      search::find_options(wishes.objective, machine, effort_of(request, wishes),
                           request.pareto || !request.plot_folder.empty());
  options.top = request.plot_folder.empty() ? wishes.top : std::max(wishes.top, kHeatMapPlans);
  if (request.progress) {
    options.progress = [show = request.progress](const search::Progress& progress) {
      show(progress_text(progress));
    };
  }
  return options;
}

PlanSearch search_plans(const search::Problem& problem, const search::FindOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  PlanSearch searched;
  const search::Space space(problem);
  searched.found = search::find_plans(space, options);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  searched.time = Seconds(taken.count());
  return searched;
}

void add_plans(const PlanProblem& of, const PlanWishes& wishes, bool pareto,
               const PlanSearch& searched, explain::PlanAnswer& answer) {
  const search::Found& found = searched.found;
  const std::vector<search::Plan> plans = search::by_objective(wishes.objective, found);
  for (std::size_t i = 0; i < std::min(plans.size(), wishes.top); ++i) {
    answer.plans.push_back(search::plan_row(of, plans[i].layout));
  }
  if (pareto) {
    for (const search::Plan& plan : found.front) {
      answer.front.push_back(search::plan_row(of, plan.layout));
    }
  }
  answer.settled = found.settled;
  answer.calls = found.calls;
  answer.complete = found.complete;
  answer.search_time = searched.time;
}

}  // namespace sextant::app
