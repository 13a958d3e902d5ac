#include "app/emit_command.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/job_files.h"
#include "describe/layout/job_defaults.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/legality.h"
#include "emit/launch.h"
#include "emit/patch.h"
#include "emit/patch_diff.h"
#include "emit/setting_rules.h"
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
  const emit::Writing writing = emit::write(dialect, job);
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

// What one list says otherwise than the other: new values, and keys without any that are to go.
std::vector<emit::Setting> changes(const std::vector<emit::Setting>& before,
                                   const std::vector<emit::Setting>& after) {
  std::vector<emit::Setting> list;
  for (const emit::Setting& wanted : after) {
    const emit::Setting* was = emit::find(before, wanted.key);
    if (was == nullptr || was->values != wanted.values) {
      list.push_back(wanted);
    }
  }
  for (const emit::Setting& was : before) {
    if (emit::find(after, was.key) == nullptr) {
      list.push_back({was.key, {}});
    }
  }
  return list;
}

Result<Answered<EmitReply>> patch_for(const EmitRequest& request, const Context& context) {
  SEXTANT_TRY(const FileJob files, read_files({.files = {request.diff},
                                               .model = request.job.model,
                                               .cluster = request.job.cluster,
                                               .sequences = request.job.sequences,
                                               .global_batch = request.job.global_batch,
                                               .workload = request.job.workload},
                                              context));
  if (!files.job) {
    return invalid(files.open.front(), request.diff);
  }
  SEXTANT_TRY(const describe::Job job, describe::with_keys(*files.job, request.job.layout));
  if (const auto broken = describe::refusals(emit::check_layout(files.settings, job));
      !broken.empty()) {
    return Answered<EmitReply>{
        explain::NotLegal{{std::string(explain::tool_version()), files.inputs}, "emit", broken},
        Outcome::kNo};
  }
  const Dialect dialect = files.settings.dialect;
  const emit::Writing before = emit::write(dialect, *files.job);
  emit::Writing after = emit::write(dialect, job);
  emit::Settings wanted;
  wanted.dialect = dialect;
  wanted.given = changes(before.settings.given, after.settings.given);
  wanted.environment = changes(before.settings.environment, after.settings.environment);
  wanted.launch = changes(before.settings.launch, after.settings.launch);
  explain::PatchAnswer answer;
  answer.provenance = {std::string(explain::tool_version()), files.inputs};
  answer.left_out = std::move(after.left_out);
  emit::Patch patch;
  std::vector<emit::File> texts;
  for (const Given& given : files.files) {
    texts.push_back(given.file);
  }
  if (files.files.size() == 1 && files.files.back().kind == emit::FileKind::kShell) {
    SEXTANT_TRY(patch, emit::patch_script(texts.back(), wanted));
  } else {
    patch = emit::patch_of(files.settings, wanted, texts);
  }
  for (const emit::File& file : texts) {
    std::vector<emit::Edit> edits;
    std::copy_if(patch.edits.begin(), patch.edits.end(), std::back_inserter(edits),
                 [&file](const emit::Edit& edit) { return edit.file == file.name; });
    answer.diff += emit::unified_diff(file.name, file.text, emit::applied(file.text, edits));
  }
  answer.by_hand = std::move(patch.by_hand);
  Answered<EmitReply> answered;
  for (const emit::ByHand& one : answer.by_hand) {
    answered.notes.push_back(
        fmt::format("{}: change {} by hand{}: {}", emit::to_text(one.place), one.key,
                    one.wanted.empty() ? "" : fmt::format(" to {}", one.wanted), one.why));
  }
  for (const emit::Inexpressible& one : answer.left_out) {
    answered.notes.push_back(explain::to_text(one));
  }
  answered.answer = std::move(answer);
  return answered;
}

}  // namespace

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
