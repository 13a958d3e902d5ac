#include "app/plan_search.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "search/recommend.h"

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
      search::find_options(wishes.objective, machine, effort_of(request, wishes), request.pareto);
  options.top = request.plot_folder.empty() ? wishes.top : std::max(wishes.top, kHeatMapPlans);
  if (request.progress) {
    options.progress = [show = request.progress](const search::Progress& progress) {
      show(progress_text(progress));
    };
  }
  return options;
}

PlanSearch search_plans(const search::Problem& problem, search::FindOptions options,
                        const PlanWishes& wishes,
                        const std::optional<describe::DifferenceSpreads>& differences) {
  const auto start = std::chrono::steady_clock::now();
  PlanSearch searched;
  const search::Space space(problem);
  if (differences) {
    searched.measure.emplace(space.choices(), problem.job, *differences);
    // The leanest is recommended as it is.
    if (wishes.objective != search::Objective::kMemory) {
      options.simplest = {&*searched.measure, search::most_given_up(*differences)};
    }
  }
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

void add_recommended(const PlanProblem& of, const PlanWishes& wishes, const PlanSearch& searched,
                     explain::PlanAnswer& answer) {
  using explain::Recommending;
  if (answer.plans.empty() || !answer.differences || !searched.measure) {
    return;
  }
  const search::PlanRow& winner = answer.plans.front();
  const search::Simplicity& measure = *searched.measure;
  const search::Burdens own = measure.of(winner.layout, winner.result.memory.fullest.device);
  explain::PlanRecommended& chosen = answer.recommended.emplace();
  chosen = {Recommending::kFastest, winner, own, own, {}};
  if (wishes.objective == search::Objective::kMemory) {
    chosen.why = Recommending::kObjective;
    return;
  }
  if (!answer.complete) {
    chosen.why = Recommending::kStopped;
    return;
  }
  const search::Recommended found =
      search::recommended(of.problem, searched.found, measure, *answer.differences);
  if (found.plan.layout == winner.layout) {
    return;
  }
  search::PlanRow row = search::plan_row(of, found.plan.layout);
  const auto in_time = [&](const search::PlanRow& one) {
    return !wishes.days || !wishes.training ||
           step::training_run(*wishes.training, one.result).time / 1_days <= *wishes.days;
  };
  if (!in_time(row) && in_time(winner)) {
    chosen.why = Recommending::kInTime;
    return;
  }
  chosen = {Recommending::kSimpler, std::move(row), found.own, found.fastest, found.difference};
}

}  // namespace sextant::app
