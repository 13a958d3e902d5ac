#include "app/plan_problem.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/job_files.h"
#include "app/job_sources.h"
#include "app/plan_emit.h"
#include "base/text.h"
#include "describe/layout/framework_defaults.h"
#include "describe/layout/job_defaults.h"
#include "describe/layout/layout_text.h"
#include "search/choices.h"
#include "step/step_answer.h"

namespace sextant::app {
namespace {

using describe::Job;

// "mbs=1 (…)": what the search chooses is no assumption, unless the user fixed it.
void drop_searched(describe::Assumptions& assumed) {
  std::erase_if(assumed, [](const describe::Assumption& one) {
    return one.key == "gbs" || search::is_searched(one.key);
  });
}

Result<std::vector<std::string>> fixed_keys(const std::string& text) {
  describe::Layout scratch;
  auto keys = describe::set_keys(text, scratch);
  if (!keys) {
    keys.error().where = "‹fix›";
  }
  return keys;
}

// --fix with the precision, which is a key too.
Result<std::string> fixed_words(const PlanRequest& request) {
  const std::string& fix = request.job.layout;
  if (request.precision.empty()) {
    return fix;
  }
  SEXTANT_TRY(const describe::Precision known,
              describe::parse_word<describe::Precision>(
                  describe::kPrecisionWords, request.precision, "precision", "‹precision›"));
  SEXTANT_TRY(const std::vector<std::string> keys, fixed_keys(fix));
  if (std::find(keys.begin(), keys.end(), "precision") != keys.end()) {
    return invalid("the precision is given twice", "‹precision›", "‹precision› or ‹fix› precision");
  }
  return fmt::format("{}{}precision={}", fix, fix.empty() ? "" : ",",
                     describe::word_of<describe::Precision>(describe::kPrecisionWords, known));
}

Result<PlanProblem> from_words(const PlanRequest& request, const Context& context) {
  PlanProblem made;
  JobRequest words = request.job;
  if (words.model.empty()) {
    return invalid("the model is missing", "«plan»", "‹model› ‹on› CLUSTER, or ‹from› train.sh");
  }
  SEXTANT_TRY(words.layout, fixed_words(request));
  SEXTANT_TRY(made.problem.fixed, fixed_keys(words.layout));
  SEXTANT_TRY(JobReading reading, read_job(words, context));
  Job& job = reading.job;
  drop_searched(job.assumed);
  if (request.job.global_batch.empty()) {
    describe::fill_planned_batch(job);
  }
  made.inputs = std::move(reading.inputs);
  made.problem.job = std::move(job);
  return made;
}

// The same job in another framework, whose files are to be written: its defaults, and none of the
// settings of the files' own.
Result<void> turn_to(const std::string& framework, PlanProblem& made) {
  Job& job = made.problem.job;
  SEXTANT_TRY(job.framework, describe::parse_word<describe::Framework>(
                                 describe::kFrameworkWords, framework, "framework", "‹emit›"));
  const describe::Precision precision = job.layout.precision;
  job.layout = {};
  job.layout.precision = precision;
  job.stated = {"precision"};
  const std::vector<std::string> given{"precision"};
  describe::add_once(describe::fill_defaults(job.layout, given, job.framework), job.assumed);
  made.users.reset();
  made.dialect.reset();
  return {};
}

Result<PlanProblem> from_files(const PlanRequest& request, const Context& context) {
  SEXTANT_TRY(FileJob files, read_files({.files = request.from,
                                         .model = request.job.model,
                                         .cluster = request.job.cluster,
                                         .sequences = request.job.sequences,
                                         .global_batch = request.job.global_batch,
                                         .workload = request.job.workload},
                                        context));
  if (!files.job || !files.open.empty()) {
    return invalid(files.open.front(), request.from.front());
  }
  if (!files.device_stated) {
    return invalid("the device is not stated", request.from.front(), "‹on› CLUSTER");
  }
  const std::string_view framework =
      describe::word_of<describe::Framework>(describe::kFrameworkWords, files.job->framework);
  if (!request.job.framework.empty() && request.job.framework != framework) {
    return invalid(fmt::format("the files are those of {}", framework), "‹framework›",
                   "without ‹framework›");
  }
  PlanProblem made;
  made.problem.job = std::move(*files.job);
  Job& job = made.problem.job;
  made.users = job.layout;
  made.dialect = files.settings.dialect;
  SEXTANT_TRY(const std::string other, emitted_framework(request));
  if (!other.empty() && other != framework) {
    SEXTANT_CHECK_OK(turn_to(other, made));
    files.violations.clear();  // of the files' own framework
  }
  for (const describe::Violation& violation : files.violations) {
    if (violation.severity == describe::Severity::kIllegal) {
      made.users_broken.push_back(violation);
    }
  }
  SEXTANT_TRY(const std::string fix, fixed_words(request));
  SEXTANT_TRY(made.problem.fixed, fixed_keys(fix));
  SEXTANT_CHECK_OK(describe::set_keys(fix, job.layout));
  job.stated.insert(made.problem.fixed.begin(), made.problem.fixed.end());
  if (!made.problem.is_fixed("dp")) {
    job.layout.dp = 0;
  }
  made.facts = std::move(files.reading.facts);
  made.measured_step = files.measured ? files.measured->step : std::nullopt;
  made.inputs = std::move(files.inputs);
  return made;
}

}  // namespace

Result<PlanProblem> plan_problem(const PlanRequest& request, const PlanWishes& wishes,
                                 const Context& context) {
  SEXTANT_TRY(PlanProblem made,
              request.from.empty() ? from_words(request, context) : from_files(request, context));
  made.problem.headroom = wishes.headroom;
  SEXTANT_CHECK_OK(step::check_tokens(made.problem.job));
  SEXTANT_CHECK_OK(search::renew_machine(made, context.data));
  made.assumed = made.problem.job.assumed;
  describe::add_once(made.machine.assumed, made.assumed);
  made.inputs.insert(made.inputs.end(), made.machine.inputs.begin(), made.machine.inputs.end());
  return made;
}

}  // namespace sextant::app
