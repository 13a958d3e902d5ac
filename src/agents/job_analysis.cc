#include "agents/job_analysis.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "agents/job_blame.h"
#include "base/quantity_text.h"
#include "base/text.h"
#include "describe/layout/layout_words.h"
#include "diagnose/bottleneck.h"

namespace sextant::agents {
namespace {

using diagnose::Bottleneck;
using metrics::OperatorBound;

constexpr std::size_t kJobOperators = 5;
constexpr std::string_view kOfTheJob = "the job";

// --- Facts ------------------------------------------------------------------------------------

// Everything that a report names, known or not.
constexpr std::array<std::string_view, 8> kAskedFacts{
    "model", "framework", "devices", "layout", "mesh", "batch", "sequence length", "device"};

std::string value_of_job(std::string_view key, const describe::Job& job) {
  if (key == "model") {
    return job.model.name;
  }
  if (key == "framework") {
    return std::string(
        describe::word_of<describe::Framework>(describe::kFrameworkWords, job.framework));
  }
  if (key == "devices") {
    return fmt::format("{}", job.cluster.devices);
  }
  if (key == "device") {
    return job.cluster.device.id;
  }
  if (key == "layout") {
    return describe::layout_words(job.layout, job.framework, job.cluster.device);
  }
  if (key == "mesh") {
    return mesh_words(job);
  }
  return fmt::format("{}", key == "batch" ? job.global_batch : job.sequences.length);
}

Fact fact_of(std::string_view key, const JobCase& asked, const Standing& standing) {
  const bool is_layout = key == "layout" || key == "mesh";
  if (standing.task != nullptr && (!is_layout || standing.is_users)) {
    return {std::string(key), value_of_job(key, standing.job), std::string(kOfTheJob)};
  }
  if (key == "device" && asked.run && !asked.run->device.empty()) {
    return {std::string(key), asked.run->device, "the profile"};
  }
  return {std::string(key), {}, {}};
}

std::vector<Fact> facts_of_job(const JobCase& asked, const Standing& standing) {
  std::vector<Fact> facts = asked.experiment;
  for (const std::string_view key : kAskedFacts) {
    if (std::ranges::find(facts, key, &Fact::key) == facts.end()) {
      facts.push_back(fact_of(key, asked, standing));
    }
  }
  return facts;
}

// --- Key figures ------------------------------------------------------------------------------

double milliseconds(Seconds time) {
  return time / 1_ms;
}

std::vector<Kpi> kpis_of_run(const metrics::Kpis& seen) {
  const auto time = [](const std::optional<Seconds>& known) {
    return known ? std::optional(known->base() * 1e6) : std::nullopt;
  };
  return {{"step_time_ms", milliseconds(seen.step), "of the profile, mean of all ranks"},
          {"busy_time_ms", milliseconds(seen.busy), ""},
          {"duty_cycle", seen.duty_cycle, "waiting inside a collective counts as busy"},
          {"flops_utilisation", seen.flops_utilisation, ""},
          {"memory_utilisation", seen.memory_utilisation, ""},
          {"mfu", seen.mfu, ""},
          {"goodput", seen.goodput, ""},
          {"mean_all_reduce_us", time(seen.mean_all_reduce), ""},
          {"all_reduce_share", seen.all_reduce_share,
           "one mean all-reduce over the step: other collectives are not in it"},
          {"communication_share", seen.communication_share, "moments at which anything is sent"},
          {"exposed_share", seen.exposed_share, "of these, moments at which nothing computes"}};
}

// What the model expects of the device's time: it idles in the bubble and for the host.
double expected_duty(const step::Estimate& estimate) {
  const step::StepTerms& terms = estimate.step;
  return 1.0 - (terms.bubble + terms.host) / terms.step;
}

std::vector<Kpi> kpis_of_job(const JobCase& asked, const Standing& standing) {
  std::vector<Kpi> kpis;
  if (asked.run && asked.run->kpis) {
    kpis = kpis_of_run(*asked.run->kpis);
  }
  if (asked.measured_step) {
    kpis.push_back({"measured_step_ms", milliseconds(*asked.measured_step), "of a log or profile"});
  }
  if (standing.estimate) {
    const step::Estimate& estimate = *standing.estimate;
    const std::string_view who = standing.is_users ? "by the model" : "of the planner's first";
    kpis.push_back({"predicted_step_ms", milliseconds(estimate.step.step), std::string(who)});
    kpis.push_back({"predicted_duty_cycle", expected_duty(estimate), std::string(who)});
    kpis.push_back({"predicted_exposed_share", estimate.overhead(), std::string(who)});
    kpis.push_back({"predicted_mfu", estimate.use.mfu(), std::string(who)});
  }
  return kpis;
}

// --- Operators --------------------------------------------------------------------------------

std::vector<TopOperator> recorded_operators(const RecordedRun& run) {
  std::vector<TopOperator> operators;
  for (const metrics::OperatorRoofline& one : run.operators) {
    operators.push_back({.name = one.name,
                         .category = one.category,
                         .share = one.share,
                         .bound = one.bound,
                         .efficiency = one.efficiency,
                         .is_collective = diagnose::names_collective(one.name, one.category)});
  }
  std::ranges::stable_sort(operators, std::greater<>(), &TopOperator::share);
  return operators;
}

// What the model's slowest rank computes, by what binds it.
std::vector<TopOperator> expected_operators(const Standing& standing) {
  const machine::StepModel& model = standing.task->machine.model;
  const cost::TimeParts parts = step::slowest_compute(standing.job, model.device, model.host).parts;
  const Seconds all = parts.products + parts.attention + parts.streams;
  std::vector<TopOperator> operators;
  if (all <= Seconds()) {
    return operators;
  }
  operators = {{"matrix products", "predicted", parts.products / all, OperatorBound::kCompute, {}},
               {"attention", "predicted", parts.attention / all, OperatorBound::kCompute, {}},
               {"element-wise kernels and the update",
                "predicted",
                parts.streams / all,
                OperatorBound::kMemory,
                {}}};
  std::ranges::stable_sort(operators, std::greater<>(), &TopOperator::share);
  return operators;
}

std::vector<TopOperator> operators_of_job(const JobCase& asked, const Standing& standing) {
  if (asked.run) {
    return recorded_operators(*asked.run);
  }
  return standing.estimate ? expected_operators(standing) : std::vector<TopOperator>();
}

std::vector<diagnose::GuiltyOperator> guilty_operators(const std::vector<TopOperator>& operators) {
  std::vector<diagnose::GuiltyOperator> guilty;
  for (const TopOperator& one : operators) {
    guilty.push_back({one.name, one.share, one.bound, one.efficiency, one.is_collective});
  }
  return guilty;
}

// --- What holds it up -------------------------------------------------------------------------

Hypothesis hypothesis_of(const diagnose::BottleneckFacts& facts, std::string_view by) {
  const diagnose::BottleneckClass found = diagnose::bottleneck_of(facts);
  return {found.bottleneck, fmt::format("{}{}", found.reason, by)};
}

// By the key figures alone, as a dashboard shows them.
Hypothesis initial_of_job(const JobCase& asked, const Standing& standing) {
  diagnose::BottleneckFacts facts;
  if (asked.run && asked.run->kpis) {
    facts.duty_cycle = asked.run->kpis->duty_cycle;
    facts.exposed = asked.run->kpis->all_reduce_share.value_or(0.0);
    return hypothesis_of(facts, "");
  }
  if (standing.estimate) {
    facts.duty_cycle = expected_duty(*standing.estimate);
    facts.exposed = 0.0;
    return hypothesis_of(facts, " (no run was recorded: the model's terms)");
  }
  return {.why = "no key figure is known", .is_known = false};
}

Hypothesis settled_of_job(const JobCase& asked, const Standing& standing,
                          const std::vector<TopOperator>& operators, const Hypothesis& initial) {
  if (asked.run && asked.run->diagnosis != nullptr) {
    const diagnose::BottleneckClass& found = asked.run->diagnosis->bottleneck;
    return {found.bottleneck, found.reason};
  }
  diagnose::BottleneckFacts facts;
  facts.operators = guilty_operators(operators);
  if (asked.run && asked.run->kpis) {
    facts.duty_cycle = asked.run->kpis->duty_cycle;
    facts.exposed = asked.run->kpis->exposed_share;
    return hypothesis_of(facts, "");
  }
  if (!asked.run && standing.estimate) {
    facts.duty_cycle = expected_duty(*standing.estimate);
    facts.exposed = standing.estimate->overhead();
    return hypothesis_of(facts, " (no run was recorded: the model's terms)");
  }
  return initial;
}

// --- Figures, operators and mesh together -----------------------------------------------------

std::vector<std::string> correlation_of_job(const JobCase& asked, const Standing& standing,
                                            const std::vector<JobBlame>& blames) {
  std::vector<std::string> lines;
  for (const JobBlame& blame : blames) {
    lines.push_back(blame.sentence);
  }
  if (asked.measured_step && standing.estimate && standing.is_users) {
    const step::Estimate& estimate = *standing.estimate;
    const bool is_within =
        *asked.measured_step >= estimate.low() && *asked.measured_step <= estimate.high();
    lines.push_back(fmt::format("the measured step is x{:.2f} the predicted one, {} its interval",
                                *asked.measured_step / estimate.step.step,
                                is_within ? "within" : "outside"));
  }
  if (!standing.fits && standing.estimate) {
    lines.push_back(fmt::format("as it stands the job needs {} of {} a device",
                                to_text(standing.estimate->memory.fullest.device),
                                to_text(standing.task->problem.available())));
  }
  for (const describe::Violation& violation : standing.broken) {
    lines.push_back(
        fmt::format("as it stands the job breaks {}: {}", violation.rule, violation.message));
  }
  return lines;
}

std::string root_cause_of_job(const Standing& standing, const std::vector<JobBlame>& blames) {
  if (!standing.broken.empty() && standing.is_users) {
    return fmt::format("the job does not run: it breaks {}", standing.broken.front().rule);
  }
  if (!standing.fits && standing.is_users) {
    return "the job does not fit into its devices' memory";
  }
  if (blames.empty()) {
    return standing.estimate ? "no axis of the mesh is waited for: the step is its operators"
                             : "not known: neither findings nor a model say";
  }
  return blames.front().sentence;
}

}  // namespace

Analysis job_analysis(const JobCase& asked, const Standing& standing) {
  Analysis analysis;
  analysis.experiment = facts_of_job(asked, standing);
  analysis.kpis = kpis_of_job(asked, standing);
  analysis.operators = operators_of_job(asked, standing);
  analysis.initial = initial_of_job(asked, standing);
  analysis.settled = settled_of_job(asked, standing, analysis.operators, analysis.initial);
  if (analysis.initial.bottleneck != analysis.settled.bottleneck) {
    analysis.overturned = analysis.settled.why;
  }
  analysis.operators.resize(std::min(analysis.operators.size(), kJobOperators));
  const std::vector<JobBlame> blames = job_blames(asked, standing);
  analysis.correlation = correlation_of_job(asked, standing, blames);
  for (const JobBlame& blame : blames) {
    if (blame.theme && std::ranges::find(analysis.axes, *blame.theme) == analysis.axes.end()) {
      analysis.axes.push_back(*blame.theme);
    }
  }
  analysis.root_cause = root_cause_of_job(standing, blames);
  if (asked.run) {
    analysis.notes = asked.run->notes;
    if (asked.run->diagnosis != nullptr) {
      const std::vector<std::string>& more = asked.run->diagnosis->notes;
      analysis.notes.insert(analysis.notes.end(), more.begin(), more.end());
    }
  }
  return analysis;
}

}  // namespace sextant::agents
