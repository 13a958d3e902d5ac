#include "app/plan_search.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/quantity_text.h"

namespace sextant::app {
namespace {

// Slower than the fastest by so much: what least memory may cost, and how far a front is of use.
constexpr double kMemoryWithin = 0.05;
constexpr double kFrontWithin = 0.30;
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

search::FindOptions find_options(const PlanRequest& request, const PlanWishes& wishes,
                                 const machine::StepMachine& machine) {
  search::FindOptions options;
  if (wishes.objective == Objective::kEnergy && machine.power) {
    options.computing_weight = machine.power->computing_weight();
  }
  options.top = request.plot_folder.empty() ? wishes.top : std::max(wishes.top, kHeatMapPlans);
  options.threads = wishes.threads;
  options.stop = request.stop;
  if (request.progress) {
    options.progress = [show = request.progress](const search::Progress& progress) {
      show(progress_text(progress));
    };
  }
  if (request.pareto || !request.plot_folder.empty()) {
    options.front_within = kFrontWithin;
  } else if (wishes.objective == Objective::kMemory) {
    options.front_within = kMemoryWithin;
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

std::optional<search::Plan> fastest_plan(const search::Problem& problem, const PlanRequest& request,
                                         const PlanWishes& wishes) {
  search::FindOptions options;
  options.top = 1;
  options.threads = wishes.threads;
  options.stop = request.stop;
  const search::Space space(problem);
  const search::Found found = search::find_plans(space, options);
  if (!found.complete || found.plans.empty()) {
    return std::nullopt;
  }
  return found.plans.front();
}

void add_plans(const PlanProblem& of, const PlanWishes& wishes, bool pareto,
               const PlanSearch& searched, explain::PlanAnswer& answer) {
  const search::Found& found = searched.found;
  std::vector<search::Plan> plans = found.plans;
  if (wishes.objective == Objective::kMemory && !found.front.empty()) {
    // The leanest of those that are hardly slower.
    const Seconds last = found.front.front().time.step * (1.0 + kMemoryWithin);
    const auto leanest =
        std::find_if(found.front.rbegin(), found.front.rend(),
                     [&](const search::Plan& plan) { return plan.time.step <= last; });
    const search::Plan& winner = *leanest;
    std::erase_if(plans, [&](const search::Plan& plan) { return plan.layout == winner.layout; });
    plans.insert(plans.begin(), winner);
  }
  for (std::size_t i = 0; i < std::min(plans.size(), wishes.top); ++i) {
    answer.plans.push_back(plan_row(of, plans[i].layout));
  }
  if (pareto) {
    for (const search::Plan& plan : found.front) {
      answer.front.push_back(plan_row(of, plan.layout));
    }
  }
  answer.settled = found.settled;
  answer.calls = found.calls;
  answer.complete = found.complete;
  answer.search_time = searched.time;
}

}  // namespace sextant::app
