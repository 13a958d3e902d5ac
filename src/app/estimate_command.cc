#include "app/estimate_command.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/job_sources.h"
#include "app/picture.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/legality.h"
#include "describe/layout/sweep.h"
#include "explain/compute_view.h"
#include "explain/step_tree.h"
#include "step/step_answer.h"
#include "step/step_timeline.h"
#include "timeline/chrome_trace.h"

namespace sextant::app {
namespace {

using describe::Job;

describe::Assumptions all_assumed(const Job& job, const describe::Assumptions& machine) {
  describe::Assumptions assumed = job.assumed;
  assumed.insert(assumed.end(), machine.begin(), machine.end());
  return assumed;
}

// REQUIRES: the job is legal, check_tokens holds.
explain::SweepPoint::Answer both_answers(const Job& job, const machine::StepMachine& machine) {
  explain::SweepPoint::Answer both;
  both.step = step::whole_estimate(job, machine);
  both.compute = step::compute_estimate(job, both.step.step.slowest_rank, machine.model.device,
                                        machine.model.host);
  return both;
}

// What all points of a sweep share.
struct Scene {
  const Job& base;
  describe::Factor factor;
  bool sp_given;
  const machine::StepMachine& machine;
};

explain::SweepPoint sweep_point(const Scene& scene, const describe::SweepValue& value) {
  explain::SweepPoint point;
  point.value = to_text(value);
  point.global_batch = scene.base.global_batch;
  const Result<Job> job = describe::job_at(scene.base, scene.factor, value, scene.sp_given);
  if (!job) {
    point.reasons.push_back(sextant::to_text(job.error()));
    return point;
  }
  point.global_batch = job->global_batch;
  for (const describe::Violation& violation : describe::refusals(*job)) {
    point.reasons.push_back(fmt::format("{}: {}", violation.rule, violation.message));
  }
  if (const auto tokens = step::check_tokens(*job); !tokens) {
    point.reasons.push_back(sextant::to_text(tokens.error()));
  }
  if (point.reasons.empty()) {
    point.answer = both_answers(*job, scene.machine);
  }
  return point;
}

Result<Artifact> sweep_plot(const explain::SweepAnswer& answer, const std::string& file) {
  const Job& job = answer.job;
  const std::string title = fmt::format("{} on {}{}{}: {} varied", job.model.name, job.cluster.name,
                                        describe::to_text(job.layout).empty() ? "" : ", ",
                                        describe::to_text(job.layout), answer.factor);
  return picture_artifact(explain::to_drawing(answer, title), {file, "‹plot›", "plot"});
}

Result<Answered<EstimateReply>> job_sweep(const JobReading& reading, const EstimateRequest& request,
                                          const Context& context) {
  SEXTANT_TRY(explain::SweepAnswer answer, sweep_answer(reading, request.sweep, context));
  std::vector<Artifact> artifacts;
  if (!request.plot_file.empty()) {
    SEXTANT_TRY(artifacts.emplace_back(), sweep_plot(answer, request.plot_file));
  }
  const bool any =
      std::any_of(answer.points.begin(), answer.points.end(), [](const explain::SweepPoint& point) {
        return point.answer && point.answer->step.memory.fits();
      });
  return Answered<EstimateReply>{.answer = std::move(answer),
                                 .outcome = any ? Outcome::kFine : Outcome::kNo,
                                 .notes = reading.risks,
                                 .artifacts = std::move(artifacts)};
}

Result<void> check_words(const EstimateRequest& request) {
  SEXTANT_CHECK_OK(training_wish(request.training));
  if (request.sweep.empty()) {
    return request.plot_file.empty() ? Result<void>()
                                     : invalid("there is nothing to plot without ‹sweep›", "‹plot›",
                                               "‹sweep› mbs, seq, tp, hidden or precision");
  }
  if (!request.training.tokens.empty()) {
    return invalid("a sweep has no single training", "‹tokens›", "without ‹sweep›");
  }
  if (!request.timeline_file.empty()) {
    return invalid("a sweep has no single timeline", "‹timeline›", "without ‹sweep›");
  }
  return {};
}

Result<Artifact> timeline_artifact(const explain::EstimateAnswer& answer, const std::string& file) {
  SEXTANT_TRY(const timeline::Timeline timeline,
              step::step_timeline(answer.result, answer.job.layout));
  return Artifact{
      .path = file,
      .bytes = timeline::chrome_trace(timeline),
      .note = {fmt::format("timeline of {} spans written to {}", timeline.spans().size(), file)}};
}

Result<Answered<EstimateReply>> job_step(const JobReading& reading, const EstimateRequest& request,
                                         const Context& context) {
  const Job& job = reading.job;
  SEXTANT_CHECK_OK(step::check_tokens(job));
  SEXTANT_TRY(const machine::StepMachine machine, machine::step_machine(job, context.data));
  explain::EstimateAnswer answer;
  answer.provenance = provenance_with(reading, machine.inputs);
  answer.job = job;
  auto both = both_answers(job, machine);
  answer.result = std::move(both.step);
  answer.compute = std::move(both.compute);
  SEXTANT_TRY(const auto training, training_wish(request.training));
  if (training) {
    answer.training = step::training_run(*training, answer.result);
  }
  answer.assumed = all_assumed(job, machine.assumed);
  answer.verbose = request.verbose;
  std::vector<Artifact> artifacts;
  if (!request.timeline_file.empty()) {
    SEXTANT_TRY(artifacts.emplace_back(), timeline_artifact(answer, request.timeline_file));
  }
  const Outcome outcome = answer.result.memory.fits() ? Outcome::kFine : Outcome::kNo;
  return Answered<EstimateReply>{.answer = std::move(answer),
                                 .outcome = outcome,
                                 .notes = reading.risks,
                                 .artifacts = std::move(artifacts)};
}

}  // namespace

Result<explain::SweepAnswer> sweep_answer(const JobReading& reading, std::string_view sweep,
                                          const Context& context) {
  SEXTANT_TRY(const describe::Sweep asked, describe::parse_sweep(sweep));
  SEXTANT_TRY(const machine::StepMachine machine, machine::step_machine(reading.job, context.data));
  explain::SweepAnswer answer;
  answer.provenance = provenance_with(reading, machine.inputs);
  answer.job = reading.job;
  answer.factor = describe::word_of<describe::Factor>(describe::kFactorWords, asked.factor);
  answer.ordered = asked.factor != describe::Factor::kPrecision;
  answer.held = describe::held_text(reading.job, asked.factor);
  const Scene scene{reading.job, asked.factor, reading.job.states("sp"), machine};
  for (const describe::SweepValue& value : asked.values) {
    answer.points.push_back(sweep_point(scene, value));
  }
  answer.assumed = all_assumed(reading.job, machine.assumed);
  return answer;
}

Result<Answered<EstimateReply>> estimate(const EstimateRequest& request, const Context& context) {
  SEXTANT_CHECK_OK(check_words(request));
  SEXTANT_TRY(const JobReading reading, read_job(request.job, context));
  if (!request.sweep.empty()) {
    SEXTANT_CHECK_OK(describe::parse_sweep(request.sweep));
  }
  if (!reading.violations.empty()) {
    return Answered<EstimateReply>{not_legal(reading, "estimate"), Outcome::kNo};
  }
  return request.sweep.empty() ? job_step(reading, request, context)
                               : job_sweep(reading, request, context);
}

Result<Explained> explain_compute(const JobRequest& request, const Context& context) {
  SEXTANT_TRY(const JobReading reading, read_job(request, context));
  if (!reading.violations.empty()) {
    return Explained{not_legal(reading, "explain"), Outcome::kNo};
  }
  SEXTANT_CHECK_OK(step::check_tokens(reading.job));
  SEXTANT_TRY(const machine::ComputeMachine machine,
              machine::compute_machine(reading.job, context.data));
  const step::ComputeEstimate slowest =
      step::slowest_compute(reading.job, machine.device, machine.host);
  return Explained{.answer = explain::TreeAnswer{explain::compute_tree(slowest),
                                                 provenance_with(reading, machine.inputs)},
                   .notes = reading.risks};
}

Result<Explained> explain_step(const JobRequest& request, const Context& context) {
  SEXTANT_TRY(const JobReading reading, read_job(request, context));
  if (!reading.violations.empty()) {
    return Explained{not_legal(reading, "explain"), Outcome::kNo};
  }
  const Job& job = reading.job;
  SEXTANT_CHECK_OK(step::check_tokens(job));
  SEXTANT_TRY(const machine::StepMachine machine, machine::step_machine(job, context.data));
  const step::RecordedEstimate result = step::recorded_estimate(job, machine);
  return Explained{
      .answer = explain::TreeAnswer{explain::step_tree(result.estimate, result.record, job),
                                    provenance_with(reading, machine.inputs)},
      .notes = reading.risks};
}

}  // namespace sextant::app
