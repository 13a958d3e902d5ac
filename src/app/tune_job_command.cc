#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "agents/confidence.h"
#include "agents/job_choice.h"
#include "agents/llm_judge.h"
#include "agents/run_bench.h"
#include "agents/tune_job.h"
#include "app/diagnosed_run.h"
#include "app/experiment_files.h"
#include "app/plan_problem.h"
#include "app/planned_layouts.h"
#include "app/tune_parts.h"
#include "base/text.h"
#include "describe/layout/job_defaults.h"
#include "describe/layout/job_layout.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/legality.h"
#include "emit/launch.h"
#include "search/plan_path.h"
#include "search/task.h"
#include "step/step_answer.h"
#include "verify/judge.h"

namespace sextant::app {
namespace {

// A job ready to be tuned, with all that its tools refer to.
struct JobScene {
  // What is searched, with pinned keys at their values, and the job as it stands (or as searched,
  // where no layout runs). Both null: only a run is known.
  std::unique_ptr<const search::Task> problem;
  std::unique_ptr<const search::Task> standing;
  agents::JobCase job;
  std::unique_ptr<const describe::DifferenceSpreads> spreads;
  std::unique_ptr<const explain::DiagnoseAnswer> run;
  agents::ConfidenceBook confidence;
  const Knowledge* knowledge = nullptr;
  const std::atomic<bool>* stop = nullptr;
};

Result<void> check_job_words(const TuneRequest& request) {
  if (request.job.workload.starts_with("forward")) {
    return invalid("a forward pass alone is serving, which is out of scope", "‹workload›",
                   "what trains: pretrain, sft, lora");
  }
  if (request.job.model.empty() && request.from.empty() && request.traces.traces.empty()) {
    return invalid("there is nothing to tune", "«tune»",
                   "‹model› ‹on› CLUSTER, ‹from› train.sh, ‹trace› logs/, or ‹case› case.toml");
  }
  return {};
}

PlanRequest planned_request(const TuneRequest& request, const ExperimentFiles& files) {
  PlanRequest plan;
  plan.job = request.job;
  plan.job.layout = request.pin;
  if (plan.job.model.empty()) {
    plan.job.model = files.model;
  }
  plan.from = files.job;
  plan.headroom = request.headroom;
  return plan;
}

// Where what is known of the job comes from.
std::vector<agents::Fact> stated_facts(const TuneRequest& request, const PlanProblem& of) {
  std::vector<agents::Fact> facts;
  for (const emit::Fact& fact : of.facts) {
    facts.push_back({fact.field, fact.value, emit::to_text(fact.place)});
  }
  const auto add = [&facts](const char* key, const std::string& value) {
    if (!value.empty()) {
      facts.push_back({key, value, "the command"});
    }
  };
  add("model", request.job.model);
  add("cluster", request.job.cluster);
  add("layout", request.job.layout);
  add("sequence length", request.job.sequences);
  add("global batch", request.job.global_batch);
  add("framework", request.job.framework);
  for (const describe::Assumption& one : of.assumed) {
    facts.push_back({one.key, one.value, "assumed: " + one.why});
  }
  return facts;
}

// A batch that nobody gave is what the replicas of the layout share: every command's.
Result<void> share_batch(describe::Job& job, PlanProblem& of) {
  const auto is_batch = [](const describe::Assumption& one) { return one.key == "gbs"; };
  if (std::erase_if(of.assumed, is_batch) == 0) {
    return {};
  }
  describe::fill_batch(job);
  SEXTANT_CHECK_OK(step::check_tokens(job));
  of.assumed.push_back(job.assumed.back());
  std::erase_if(of.problem.job.assumed, is_batch);
  of.problem.job.assumed.push_back(job.assumed.back());
  of.problem.job.global_batch = job.global_batch;
  return {};
}

// The layout as the user types it, over what the job has.
Result<void> put_users_layout(const std::string& words, PlanProblem& of) {
  if (words.empty()) {
    return {};
  }
  describe::Job job = of.problem.job;
  SEXTANT_CHECK_OK(describe::set_layout(words, job));
  SEXTANT_CHECK_OK(share_batch(job, of));
  of.users = job.layout;
  of.users_broken = describe::refusals(job);
  return {};
}

search::Task at_layout(const search::Task& task, const describe::Layout& layout) {
  search::Task there = task;
  there.problem.job.layout = layout;
  return there;
}

// The planner's word for what is pinned is ‹fix›.
Result<PlanProblem> pinned_problem(const PlanRequest& plan, const Context& context) {
  SEXTANT_TRY(const PlanWishes wishes, plan_wishes(plan));
  auto of = plan_problem(plan, wishes, context);
  if (!of && of.error().where == "‹fix›") {
    of.error().where = "‹pin›";
  }
  return of;
}

Result<void> add_job(const TuneRequest& request, const ExperimentFiles& files,
                     const Context& context, JobScene& scene, PreparedTune& prepared) {
  const PlanRequest plan = planned_request(request, files);
  SEXTANT_TRY(PlanProblem of, pinned_problem(plan, context));
  SEXTANT_CHECK_OK(put_users_layout(request.job.layout, of));
  scene.job.users = of.users;
  scene.job.broken = of.users_broken;
  scene.job.experiment = stated_facts(request, of);
  scene.job.measured_step = of.measured_step;
  prepared.assumed = of.assumed;
  prepared.provenance.inputs.insert(prepared.provenance.inputs.end(), of.inputs.begin(),
                                    of.inputs.end());
  const search::Task& task = of;
  scene.problem = std::make_unique<const search::Task>(task);
  scene.standing =
      std::make_unique<const search::Task>(of.users ? at_layout(task, *of.users) : task);
  scene.job.task = scene.problem.get();
  SEXTANT_TRY(describe::DifferenceSpreads spreads, describe::difference_spreads(context.data));
  scene.spreads = std::make_unique<const describe::DifferenceSpreads>(std::move(spreads));
  for (const std::string& idea : request.ideas) {
    // What is no layout is a slip of the pen, not a change that could be judged.
    describe::Job tried = scene.problem->problem.job;
    if (auto laid = describe::lay_over(idea, tried); !laid) {
      laid.error().where = "‹idea›";
      return tl::unexpected(std::move(laid.error()));
    }
    verify::Proposal proposal;
    proposal.title = "Your own: " + printable(idea);
    proposal.change.layout = idea;
    proposal.author = "user";
    scene.job.ideas.push_back(std::move(proposal));
  }
  SEXTANT_TRY(const ChoiceFile choices, read_choices(request.among));
  for (const agents::Candidate& one : choices.candidates) {
    describe::Job tried = scene.problem->problem.job;
    if (auto laid = describe::lay_over(one.text, tried); !laid) {
      laid.error().where = one.where;
      return tl::unexpected(std::move(laid.error()));
    }
    scene.job.among.push_back(one.text);
  }
  prepared.provenance.inputs.insert(prepared.provenance.inputs.end(), choices.inputs.begin(),
                                    choices.inputs.end());
  return {};
}

Result<void> add_run(const TuneRequest& request, const ExperimentFiles& files,
                     const Context& context, const Control& control, JobScene& scene,
                     PreparedTune& prepared) {
  TraceRequest traces = request.traces;
  traces.traces.insert(traces.traces.end(), files.traces.begin(), files.traces.end());
  if (traces.traces.empty() || request.without_profile) {
    return {};
  }
  traces.keeps_collectives = true;
  SEXTANT_TRY(TraceReading reading, read_traces(traces, context, control));
  prepared.outcome = reading.is_stopped ? Outcome::kInterrupted : Outcome::kFine;
  prepared.notes = std::move(reading.notes);
  RunWords words{.device = request.device, .framework = request.job.framework};
  if (!request.job.model.empty() && files.job.empty() && !request.job.layout.empty()) {
    words.job = request.job;
  }
  SEXTANT_TRY(explain::DiagnoseAnswer diagnosed, diagnosed_run(reading, words, context));
  scene.run = std::make_unique<const explain::DiagnoseAnswer>(std::move(diagnosed));
  const explain::DiagnoseAnswer& run = *scene.run;
  agents::RecordedRun recorded{.kpis = run.kpis, .operators = run.rooflines};
  if (run.findings) {
    recorded.diagnosis = &run.findings->diagnosis;
    recorded.book = &run.findings->book;
  }
  recorded.device = run.peaks ? run.peaks->device : std::string();
  for (const explain::DiagnosedLoss& loss : run.unread) {
    recorded.notes.push_back(fmt::format("not read: {}", printable(loss.what)));
  }
  if (run.kpis && !scene.job.measured_step) {
    scene.job.measured_step = run.kpis->step;
  }
  scene.job.run = std::move(recorded);
  for (const auto& input : run.provenance.inputs) {
    if (std::ranges::find(prepared.provenance.inputs, input) == prepared.provenance.inputs.end()) {
      prepared.provenance.inputs.push_back(input);
    }
  }
  describe::add_once(run.assumed, prepared.assumed);
  return {};
}

verify::Verdict judged_at(const JobScene& scene, const search::Task& task,
                          const verify::Proposal& proposal) {
  return verify::judge(proposal, {.task = task,
                                  .spreads = *scene.spreads,
                                  .entries = scene.knowledge->entries,
                                  .diagnosis = scene.job.run ? scene.job.run->diagnosis : nullptr,
                                  .advice = scene.job.run ? scene.job.run->book : nullptr});
}

Result<step::Estimate> estimate_of(const JobScene& scene, std::string_view layout) {
  describe::Job job = scene.standing->problem.job;
  SEXTANT_CHECK_OK(describe::lay_over(layout, job));
  if (!describe::core_allows(job)) {
    const describe::Violation broken = describe::refusals(job).front();
    return invalid(fmt::format("{}: {}", broken.rule, broken.message), printable(layout),
                   "a layout that can be priced");
  }
  SEXTANT_CHECK_OK(step::check_tokens(job));
  return step::whole_estimate(job, scene.standing->machine);
}

void add_planner(const std::shared_ptr<const JobScene>& scene, agents::Tools& tools) {
  tools.plan = [scene](std::size_t most) -> Result<std::vector<search::PlanRow>> {
    return planned_layouts(*scene->problem, *scene->spreads, most, scene->stop);
  };
  if (const auto& users = scene->job.users) {
    tools.path = [scene, from = search::PathStart{*users, scene->job.broken}](
                     const describe::Layout& to) -> Result<search::PlanPath> {
      return search::plan_path(*scene->problem, from, to);
    };
  }
}

agents::Tools job_tools(const std::shared_ptr<const JobScene>& scene, bool with_planner,
                        agents::Tools tools) {
  if (!scene->problem) {
    return tools;
  }
  tools.estimate = [scene](std::string_view layout) { return estimate_of(*scene, layout); };
  tools.judge = [scene](const verify::Proposal& proposal) {
    return judged_at(*scene, *scene->standing, proposal);
  };
  tools.judge_at = [scene](const verify::Proposal& proposal, const describe::Layout& at) {
    return judged_at(*scene, at_layout(*scene->problem, at), proposal);
  };
  if (with_planner) {
    add_planner(scene, tools);
  }
  return tools;
}

// As the session did: beside the user's layout, or the planner's first where none runs.
verify::Verdict judged_again(const JobScene& scene, bool with_planner,
                             const verify::Proposal& proposal) {
  if (!scene.standing) {
    return agents::judged_by_run(proposal, scene.job);
  }
  if (scene.job.users || !with_planner || !scene.job.among.empty()) {
    return judged_at(scene, *scene.standing, proposal);
  }
  const std::vector<search::PlanRow> rows =
      planned_layouts(*scene.problem, *scene.spreads, 1, scene.stop);
  if (rows.empty()) {
    return judged_at(scene, *scene.standing, proposal);
  }
  const search::Task there = at_layout(*scene.problem, rows.front().layout);
  describe::Job same = there.problem.job;
  if (describe::lay_over(proposal.change.layout, same) && same.layout == there.problem.job.layout &&
      proposal.change.setting.empty()) {
    return agents::first_verdict(
        {.task = scene.problem.get(), .job = there.problem.job, .estimate = rows.front().result});
  }
  return judged_at(scene, there, proposal);
}

// What else was said of the job: without it another job's files would be written.
std::string rest_of_job(const JobRequest& asked, const describe::Job& job) {
  std::string text;
  for (const auto& [name, value] : {std::pair{"framework", asked.framework},
                                    {"seq", asked.sequences},
                                    {"gbs", fmt::format("{}", job.global_batch)},
                                    {"workload", asked.workload}}) {
    text += value.empty() ? "" : fmt::format(" ‹{} {}›", name, emit::shell_quoted(value));
  }
  return text;
}

// The command that writes the framework's files, or what is to be changed in the user's own.
using Commands =
    std::function<std::vector<std::string>(const agents::Judged&, const JobScene& scene)>;
Commands what_to_run(const TuneRequest& request, const ExperimentFiles& files) {
  return [job = request.job, file = files.job.empty() ? std::string() : files.job.front()](
             const agents::Judged& judged, const JobScene& scene) -> std::vector<std::string> {
    const verify::Change& change = judged.proposal.change;
    std::vector<std::string> commands;
    if (!change.setting.empty()) {
      commands.push_back("set " + change.setting);
    }
    if (change.layout.empty() || !scene.problem) {
      return commands;
    }
    if (!file.empty()) {
      commands.push_back(fmt::format("«emit» ‹diff {}› ‹layout {}›", emit::shell_quoted(file),
                                     emit::shell_quoted(change.layout)));
      return commands;
    }
    const describe::Framework framework = scene.problem->problem.job.framework;
    for (const auto& [dialect, word] : emit::kDialectWords) {
      if (emit::framework_of(dialect) == framework) {
        commands.push_back(
            fmt::format("«emit» {} ‹on {}› ‹layout {}›{} ‹to {}›", emit::shell_quoted(job.model),
                        emit::shell_quoted(job.cluster), emit::shell_quoted(judged.layout),
                        rest_of_job(job, scene.problem->problem.job), word));
        break;
      }
    }
    return commands;
  };
}

// What a language model has of the job. What to run is made of the layout that was judged, never of
// the model's words.
LlmScene scene_beside(const std::shared_ptr<const JobScene>& scene, agents::Tools tools,
                      const agents::Report& report, const Commands& to_try) {
  // The judge refers to what stands beside it.
  struct Held {
    agents::Tools tools;
    agents::Report report;
    std::function<agents::Judged(const verify::Proposal&)> judge = {};
  };
  const auto held = std::make_shared<Held>(Held{std::move(tools), report});
  held->judge = agents::job_judge(scene->job, held->tools, held->report);
  return {.tools = held->tools, .judge = [scene, to_try, held](const verify::Proposal& proposal) {
            agents::Judged judged = held->judge(proposal);
            if (judged.verdict.stands() && !judged.layout.empty()) {
              agents::Judged layout = judged;
              layout.proposal.change = {.layout = judged.layout};
              judged.run = to_try(layout, *scene);
            }
            return judged;
          }};
}

}  // namespace

Result<PreparedTune> prepared_job(const TuneRequest& request, const Knowledge& knowledge,
                                  const Context& context, const Control& control) {
  SEXTANT_CHECK_OK(check_job_words(request));
  SEXTANT_TRY(const ExperimentFiles files, experiment_files(request.from));
  PreparedTune prepared{.provenance = knowledge.provenance, .tune = {}, .judge = {}};
  const auto scene = std::make_shared<JobScene>();
  scene->knowledge = &knowledge;
  scene->stop = control.stop;
  SEXTANT_TRY(scene->confidence, agents::ConfidenceBook::load(context.data));
  scene->job.confidence = &scene->confidence;
  if (!request.job.model.empty() || !files.job.empty()) {
    SEXTANT_CHECK_OK(add_job(request, files, context, *scene, prepared));
  } else if (!request.pin.empty() || !request.ideas.empty() || !request.among.empty()) {
    return invalid("a run alone has no layout to change", "‹pin›, ‹idea›, ‹among›",
                   "with ‹model› or ‹from›");
  }
  SEXTANT_CHECK_OK(add_run(request, files, context, control, *scene, prepared));
  prepared.notes.insert(prepared.notes.end(), files.notes.begin(), files.notes.end());
  const bool with_planner = !request.without_planner;
  prepared.tune = [scene, with_planner, to_try = what_to_run(request, files)](
                      const agents::Tools& tools) -> Result<agents::Report> {
    SEXTANT_TRY(agents::Report report,
                agents::tune_job(scene->job, job_tools(scene, with_planner, tools)));
    for (auto* const list : {&report.proposals, &report.ideas}) {
      for (agents::Judged& judged : *list) {
        judged.run = judged.run.empty() ? to_try(judged, *scene) : judged.run;
      }
    }
    return report;
  };
  prepared.beside = [scene, with_planner, to_try = what_to_run(request, files)](
                        const agents::Tools& tools, const agents::Report& report) {
    return scene_beside(scene, job_tools(scene, with_planner, tools), report, to_try);
  };
  prepared.judge = [scene,
                    with_planner](const verify::Proposal& proposal) -> Result<verify::Verdict> {
    return judged_again(*scene, with_planner, proposal);
  };
  return prepared;
}

}  // namespace sextant::app
