#include "app/plan_emit.h"

#include <fmt/format.h>

#include "app/emit_command.h"
#include "emit/dialects.h"
#include "emit/launch.h"

namespace sextant::app {
namespace {

using emit::Dialect;

Result<Dialect> dialect_word(const std::string& word) {
  return describe::parse_word<Dialect>(emit::kDialectWords, word, "dialect", "‹emit›");
}

std::vector<std::string> plan_comments(const PlanProblem& of, const search::PlanRow& best,
                                       const emit::Writing& writing) {
  const describe::Job& job = of.problem.job;
  std::vector<std::string> comments{
      fmt::format("sextant {}: the plan of {} on {}", explain::tool_version(), job.model.name,
                  job.cluster.name),
      fmt::format("layout {}", best.words),
      fmt::format("predicted step {}; {}", explain::with_interval(best.result),
                  explain::fit_text(best.result.memory))};
  for (const emit::Inexpressible& one : writing.left_out) {
    comments.push_back(explain::to_text(one));
  }
  return comments;
}

}  // namespace

Result<std::string> emitted_framework(const PlanRequest& request) {
  if (request.dialect.empty()) {
    return std::string();
  }
  SEXTANT_TRY(const Dialect dialect, dialect_word(request.dialect));
  const describe::Framework framework = emit::framework_of(dialect);
  if (!request.job.framework.empty()) {
    SEXTANT_TRY(const describe::Framework asked,
                describe::parse_word<describe::Framework>(
                    describe::kFrameworkWords, request.job.framework, "framework", "‹framework›"));
    if (asked != framework) {
      return invalid(
          fmt::format("'{}' is not a dialect of {}", request.dialect, request.job.framework),
          "‹emit›", "a dialect of the framework that is planned for");
    }
  }
  return std::string(describe::word_of<describe::Framework>(describe::kFrameworkWords, framework));
}

Result<Answered<explain::EmitAnswer>> plan_files(const PlanProblem& of, const search::PlanRow& best,
                                                 const PlanRequest& request,
                                                 const Context& context) {
  SEXTANT_TRY(const Dialect dialect, dialect_word(request.dialect));
  SEXTANT_TRY(const emit::Launcher launcher,
              describe::parse_word<emit::Launcher>(
                  emit::kLauncherWords, request.launcher.empty() ? "torchrun" : request.launcher,
                  "launcher", "‹launcher›"));
  describe::Job job = of.problem.job;
  job.layout = best.layout;
  emit::Writing writing = emit::write(dialect, job);
  SEXTANT_CHECK_OK(add_required(writing, context));
  const std::vector<std::string> comments = plan_comments(of, best, writing);
  Answered<explain::EmitAnswer> answered;
  explain::EmitAnswer& answer = answered.answer;
  answer.dialect = dialect;
  answer.files = emit::render(writing.settings, comments);
  answer.files.push_back(emit::launch_script(writing, job, launcher, comments));
  answer.left_out = writing.left_out;
  if (!request.folder.empty()) {
    answered.artifacts = files_artifacts(answer.files, request.folder);
    answer.written = paths_of(answered.artifacts);
  }
  for (const emit::Inexpressible& one : answer.left_out) {
    answered.notes.push_back(explain::to_text(one));
  }
  return answered;
}

}  // namespace sextant::app
