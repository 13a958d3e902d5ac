#include "app/plan_command.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/plan_baselines.h"
#include "app/plan_emit.h"
#include "app/plan_free.h"
#include "app/plan_pictures.h"
#include "app/plan_problem.h"
#include "app/plan_search.h"
#include "app/plan_settings.h"
#include "app/plan_why_not.h"

namespace sextant::app {
namespace {

explain::PlanAnswer answer_head(const PlanProblem& of, const PlanWishes& wishes,
                                const describe::DataStore& data) {
  explain::PlanAnswer answer;
  answer.provenance = {std::string(explain::tool_version()), of.inputs};
  answer.job = of.problem.job;
  answer.fixed = of.problem.fixed;
  answer.objective =
      describe::word_of<search::Objective>(search::kObjectiveWords, wishes.objective);
  answer.headroom = wishes.headroom;
  answer.limit = of.problem.available();
  answer.days = wishes.days;
  answer.assumed = of.assumed;
  if (auto differences = describe::difference_spreads(data)) {
    answer.differences = std::move(*differences);
  }
  return answer;
}

// Everything that is said of the winner beside its step. REQUIRES: there is one.
Result<void> add_details(const PlanProblem& of, const PlanSearch& searched,
                         const PlanRequest& request, const PlanWishes& wishes,
                         const Context& context, Answered<explain::PlanAnswer>& answered) {
  explain::PlanAnswer& answer = answered.answer;
  const search::PlanRow& best = answer.chosen();
  if (wishes.training) {
    answer.training = step::training_run(*wishes.training, best.result);
  }
  answer.shifts = search::plan_shifts(of, answer.plans.front().layout, effort_of(request, wishes),
                                      context.data);
  if (of.users) {
    answer.path =
        search::plan_path(of, {*of.users, of.users_broken, of.measured_step}, best.layout);
    answer.path_words = path_settings(of, *answer.path);
  }
  if (!request.dialect.empty()) {
    SEXTANT_TRY(Answered<explain::EmitAnswer> files, plan_files(of, best, request, context));
    answer.files = std::move(files.answer);
    answered.notes = std::move(files.notes);
    answered.artifacts = std::move(files.artifacts);
  }
  if (!request.plot_folder.empty()) {
    SEXTANT_TRY(PlanPictures pictures, plan_pictures(of, searched, answer, request, wishes));
    std::ranges::move(pictures.missing, std::back_inserter(answered.notes));
    std::ranges::move(pictures.files, std::back_inserter(answered.artifacts));
  }
  return {};
}

Outcome plan_outcome(const explain::PlanAnswer& answer, const PlanRequest& request,
                     const PlanWishes& wishes) {
  if (!answer.complete || (request.stop != nullptr && request.stop->load())) {
    return Outcome::kInterrupted;
  }
  // In time was asked for, and is not to be had.
  const bool late = wishes.days && answer.training && answer.training->time / 1_days > *wishes.days;
  return answer.plans.empty() || late ? Outcome::kNo : Outcome::kFine;
}

Result<void> check_power(const PlanProblem& of, const PlanWishes& wishes) {
  if (wishes.objective == search::Objective::kEnergy && !of.machine.power) {
    const describe::Device& device = of.problem.job.cluster.device;
    return invalid(
        "what " + device.name + " draws is not known (" + device.power_limit.source + ")",
        "‹objective›",
        "step, memory, devices or cost, or a cluster.toml with [device.power_limit]");
  }
  return {};
}

// The problem on as many devices as the objective asks for; the whole cluster where none will do.
Result<PlanProblem> on_devices(PlanProblem of, const PlanRequest& request, const PlanWishes& wishes,
                               const Context& context, std::vector<search::PlanCount>& counts) {
  if (wishes.objective != search::Objective::kDevices &&
      wishes.objective != search::Objective::kCost) {
    return of;
  }
  SEXTANT_TRY(search::Counted counted,
              search::count_devices(of, {wishes.objective, wishes.training, wishes.days},
                                    effort_of(request, wishes), context.data));
  counts = std::move(counted.counts);
  if (counted.chosen) {
    static_cast<search::Task&>(of) = std::move(*counted.chosen);
  }
  return of;
}

}  // namespace

Result<Answered<explain::PlanAnswer>> plan(const PlanRequest& asked, const Context& context) {
  PlanRequest request = asked;
  SEXTANT_TRY(const PlanWishes wishes, plan_wishes(request));
  SEXTANT_TRY(const std::string framework, emitted_framework(request));
  if (!framework.empty() && request.from.empty()) {
    request.job.framework = framework;
  }
  SEXTANT_TRY(PlanProblem whole, plan_problem(request, wishes, context));
  SEXTANT_CHECK_OK(check_power(whole, wishes));
  std::vector<search::PlanCount> counts;
  SEXTANT_TRY(const PlanProblem on, on_devices(std::move(whole), request, wishes, context, counts));
  SEXTANT_TRY(const std::vector<search::Free> kinds, freed_kinds(request.free, on));
  SEXTANT_TRY(search::Freed freed, search::free_choices(on, kinds, wishes.objective,
                                                        effort_of(request, wishes), context.data));
  PlanProblem of = on;
  if (freed.chosen) {
    static_cast<search::Task&>(of) = std::move(*freed.chosen);
  }
  Answered<explain::PlanAnswer> answered{answer_head(of, wishes, context.data)};
  explain::PlanAnswer& answer = answered.answer;
  answer.counts = std::move(counts);
  answer.freed = std::move(freed.tried);
  const search::FindOptions options = find_options(request, wishes, of.machine);
  const PlanSearch searched = search_plans(of.problem, options, wishes, answer.differences);
  add_plans(of, wishes, request.pareto, searched, answer);
  add_recommended(of, wishes, searched, answer);
  if (!answer.plans.empty()) {
    SEXTANT_CHECK_OK(add_details(of, searched, request, wishes, context, answered));
  } else if (answer.complete) {
    answer.none = search::no_plan(of, answer.settled, context.data);
  }
  if (!request.baselines.empty()) {
    SEXTANT_TRY(answer.baselines, plan_baselines(of, request.baselines));
  }
  if (request.proof && answer.complete) {
    answer.proof =
        search::prove(search::Space(of.problem), searched.found, options.computing_weight);
  }
  if (!request.why_not.empty()) {
    const describe::Layout* best = answer.plans.empty() ? nullptr : &answer.plans.front().layout;
    answer.asked = request.why_not;
    SEXTANT_TRY(answer.why_not, why_not(of, request.why_not, best));
  }
  answered.outcome = plan_outcome(answer, request, wishes);
  return answered;
}

}  // namespace sextant::app
