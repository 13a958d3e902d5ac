#include "app/tune_command.h"

#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/table_rows.h"
#include "app/tune_parts.h"
#include "base/text.h"

namespace sextant::app {
namespace {

// What the same session is named by: not where or whether it is logged, nor how it is shown.
GivenWords naming_words(const GivenWords& words) {
  GivenWords naming;
  for (const auto& word : words) {
    if (!is_one_of(word.first, {"kb", "session", "no-log", "top", "verbose"})) {
      naming.push_back(word);
    }
  }
  return naming;
}

Outcome outcome_of(const agents::Report& report, Outcome of_reading, const Control& control) {
  if (of_reading != Outcome::kFine) {
    return of_reading;
  }
  if (control.stop != nullptr && control.stop->load()) {
    return Outcome::kInterrupted;
  }
  return report.proposals.empty() && !report.keep ? Outcome::kNo : Outcome::kFine;
}

// Names that ‹mask› hides: of the model, the cluster, files and who asks.
std::vector<std::string> masked_names(const TuneRequest& request, const PreparedTune& prepared,
                                      const Context& context) {
  std::vector<std::string> names{request.job.model, request.job.cluster, request.device,
                                 context.user};
  for (const auto& [name, hash] : prepared.provenance.inputs) {
    names.push_back(name);
    names.push_back(std::filesystem::path(name).filename().string());
  }
  return names;
}

// Beside the knowledge base, which it can be told from and outlive; empty: that has no file.
std::filesystem::path vectors_file(std::filesystem::path kb) {
  return kb.empty() ? kb : kb += ".vectors";
}

// What the user named, as it was named, and the files that it came to.
std::vector<std::filesystem::path> named_files(const TuneRequest& request,
                                               const PreparedTune& prepared) {
  std::vector<std::filesystem::path> files{request.job.model, request.job.cluster,
                                           request.case_file, request.among};
  files.insert(files.end(), request.from.begin(), request.from.end());
  files.insert(files.end(), request.traces.traces.begin(), request.traces.traces.end());
  for (const auto& [name, hash] : prepared.provenance.inputs) {
    files.emplace_back(name);
  }
  std::erase_if(files, [](const std::filesystem::path& one) { return one.empty(); });
  return files;
}

}  // namespace

Result<PreparedTune> prepared_tune(const TuneRequest& request, const Knowledge& knowledge,
                                   const Context& context, const Control& control) {
  return request.case_file.empty() ? prepared_job(request, knowledge, context, control)
                                   : prepared_case(request, knowledge, context);
}

Result<Answered<explain::TuneAnswer>> tune(const TuneRequest& request, const Context& context,
                                           const Control& control) {
  SEXTANT_TRY(const std::optional<std::int64_t> top, rows_asked(request.top));
  SEXTANT_TRY(const std::optional<LlmChoice> model, llm_choice(request.llm, context, control));
  SEXTANT_TRY(const Knowledge knowledge,
              knowledge_of(request.kb_file, request.without_kb, context));
  SEXTANT_TRY(const PreparedTune prepared, prepared_tune(request, knowledge, context, control));
  const SessionStart start{.words = naming_words(request.words),
                           .inputs = prepared.provenance.inputs};
  SessionLog log(kb_file(request.kb_file, context),
                 request.session.empty() ? session_name(start) : request.session, context.now,
                 request.logs);
  log.note(kb::EventKind::kToolCall, start_text(start));
  SEXTANT_TRY(agents::Report report, prepared.tune(session_tools(knowledge, log)));
  Answered<explain::TuneAnswer> answered{.answer = {.provenance = prepared.provenance,
                                                    .report = std::move(report),
                                                    .session = log.name(),
                                                    .assumed = prepared.assumed,
                                                    .top = top,
                                                    .verbose = request.verbose},
                                         .notes = prepared.notes};
  if (model) {
    LlmScene scene = prepared.beside(session_tools(knowledge, log), answered.answer.report);
    scene.names = masked_names(request, prepared, context);
    scene.files = named_files(request, prepared);
    scene.index = knowledge.index;
    if (request.logs) {
      scene.kept_vectors = vectors_file(kb_file(request.kb_file, context));
    }
    SEXTANT_TRY(answered.answer, with_model(std::move(answered.answer), scene, request.llm, *model,
                                            context, control));
  }
  answered.outcome = outcome_of(answered.answer.report, prepared.outcome, control);
  if (!log.failure().empty()) {
    answered.notes.push_back("the session is not logged: " + log.failure());
  }
  return answered;
}

}  // namespace sextant::app
