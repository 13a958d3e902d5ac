#include "app/emit_command.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/emit_patch.h"
#include "describe/layout/layout_text.h"
#include "emit/launch.h"
#include "emit/required_settings.h"
#include "explain/step_result.h"
#include "step/step_answer.h"

namespace sextant::app {
namespace {

using describe::Framework;
using emit::Dialect;

Result<Dialect> asked_dialect(const EmitRequest& request, Framework framework) {
  if (!request.dialect.empty()) {
    return describe::parse_word<Dialect>(emit::kDialectWords, request.dialect, "dialect", "‹to›");
  }
  const std::optional<Dialect> own = emit::own_dialect(framework);
  if (!own) {
    return invalid(fmt::format("no files are written for {}",
                               describe::word_of<Framework>(describe::kFrameworkWords, framework)),
                   "‹to›", "megatron, bridge, torchtitan, torchtitan-toml, deepspeed, maxtext, …");
  }
  return *own;
}

struct JobComments {
  std::vector<std::string> lines;
  bool fits = true;  // as far as it can be predicted
};

// "predicted step 4.81 s (…)", where it can be predicted.
JobComments job_comments(describe::Job job, const emit::Writing& writing, const Context& context) {
  // What the files will state is what is predicted, whether the user said it or not.
  job.stated = emit::stated_keys(emit::read(writing.settings, context.data));

  JobComments comments{{fmt::format("sextant {}: {} on {}", explain::tool_version(), job.model.name,
                                    job.cluster.name),
                        fmt::format("layout {}", describe::to_text(job.layout))}};
  if (step::check_tokens(job)) {
    if (const auto machine = machine::step_machine(job, context.data)) {
      const step::Estimate result = step::whole_estimate(job, *machine);
      comments.fits = result.memory.fits();
      comments.lines.push_back(fmt::format("predicted step {}; {}", explain::with_interval(result),
                                           explain::fit_text(result.memory)));
    }
  }
  for (const emit::Inexpressible& one : writing.left_out) {
    comments.lines.push_back(explain::to_text(one));
  }
  return comments;
}

Result<Answered<EmitReply>> files_for(const EmitRequest& request, const Context& context) {
  JobRequest words = request.job;
  if (!request.dialect.empty() && words.framework.empty()) {
    SEXTANT_TRY(const Dialect to, asked_dialect(request, Framework::kOther));
    words.framework =
        describe::word_of<Framework>(describe::kFrameworkWords, emit::framework_of(to));
  }
  SEXTANT_TRY(JobReading reading, read_job(words, context));
  if (!reading.violations.empty()) {
    return Answered<EmitReply>{not_legal(reading, "emit"), Outcome::kNo};
  }
  const describe::Job& job = reading.job;
  SEXTANT_TRY(const Dialect dialect, asked_dialect(request, job.framework));
  SEXTANT_TRY(const emit::Launcher launcher,
              describe::parse_word<emit::Launcher>(
                  emit::kLauncherWords, request.launcher.empty() ? "torchrun" : request.launcher,
                  "launcher", "‹launcher›"));
  emit::Writing writing = emit::write(dialect, job);
  SEXTANT_CHECK_OK(add_required(writing, context));
  const JobComments comments = job_comments(job, writing, context);
  explain::EmitAnswer answer{.provenance = provenance_of(reading),
                             .dialect = dialect,
                             .files = emit::render(writing.settings, comments.lines),
                             .left_out = writing.left_out,
                             .written = {},
                             .assumed = job.assumed};
  answer.files.push_back(emit::launch_script(writing, job, launcher, comments.lines));
  Answered<EmitReply> answered;
  answered.outcome = comments.fits ? Outcome::kFine : Outcome::kNo;
  answered.notes = std::move(reading.risks);
  if (!comments.fits) {
    answered.notes.emplace_back("it does not fit: the files say by how much");
  }
  if (!request.folder.empty()) {
    answered.artifacts = files_artifacts(answer.files, request.folder);
    answer.written = paths_of(answered.artifacts);
  }
  for (const emit::Inexpressible& one : writing.left_out) {
    answered.notes.push_back(explain::to_text(one));
  }
  answered.answer = std::move(answer);
  return answered;
}

}  // namespace

Result<void> add_required(emit::Writing& writing, const Context& context) {
  SEXTANT_TRY(const std::vector<emit::Inexpressible> open,
              emit::left_to_fill_in(writing.settings, context.data));
  writing.left_out.insert(writing.left_out.end(), open.begin(), open.end());
  return {};
}

std::vector<Artifact> files_artifacts(const std::vector<emit::File>& files,
                                      const std::filesystem::path& folder) {
  std::vector<Artifact> artifacts;
  for (const emit::File& file : files) {
    artifacts.push_back({.path = (folder / file.name).string(),
                         .bytes = file.text,
                         .executable = file.executable,
                         .makes_folders = true});
  }
  return artifacts;
}

std::vector<std::string> paths_of(const std::vector<Artifact>& artifacts) {
  std::vector<std::string> paths;
  for (const Artifact& artifact : artifacts) {
    paths.push_back(artifact.path);
  }
  return paths;
}

Result<Answered<EmitReply>> emit_files(const EmitRequest& request, const Context& context) {
  return request.diff.empty() ? files_for(request, context) : patch_for(request, context);
}

}  // namespace sextant::app
