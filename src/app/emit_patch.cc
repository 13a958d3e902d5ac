#include "app/emit_patch.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/job_files.h"
#include "describe/layout/job_defaults.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/legality.h"
#include "emit/flags.h"
#include "emit/patch.h"
#include "emit/patch_diff.h"
#include "emit/setting_rules.h"

namespace sextant::app {
namespace {

using emit::Setting;

// What one list says otherwise than the other: new values, and keys without any that are to go.
std::vector<Setting> changes(const std::vector<Setting>& before,
                             const std::vector<Setting>& after) {
  std::vector<Setting> list;
  for (const Setting& wanted : after) {
    const Setting* was = emit::find(before, wanted.key);
    if (was == nullptr || was->values != wanted.values) {
      list.push_back(wanted);
    }
  }
  for (const Setting& was : before) {
    if (emit::find(after, was.key) == nullptr) {
      list.push_back({was.key, {}});
    }
  }
  return list;
}

FileRequest file_words(const EmitRequest& request) {
  return {.files = {request.diff},
          .model = request.job.model,
          .cluster = request.job.cluster,
          .sequences = request.job.sequences,
          .global_batch = request.job.global_batch,
          .workload = request.job.workload};
}

class Patching {
 public:
  // `now`: the files' own job.
  Patching(const EmitRequest& request, const Context& context, const FileJob& files,
           const describe::Job& now, const describe::Job& wanted)
      : request_(request), context_(context), files_(files), now_(now), wanted_(wanted) {
    for (const Given& given : files.files) {
      // A record of a captured job holds no line of the user's: all is to be done by hand.
      if (given.kind != emit::FileKind::kCapture) {
        texts_.push_back(given.file);
      }
    }
  }

  Result<explain::PatchAnswer> made() {
    const emit::Dialect dialect = files_.settings.dialect;
    const emit::Writing before = emit::write(dialect, now_);
    const emit::Writing after = emit::write(dialect, wanted_);
    emit::Settings settings;
    settings.dialect = dialect;
    settings.given = changes(before.settings.given, after.settings.given);
    settings.environment = changes(before.settings.environment, after.settings.environment);
    settings.launch = changes(before.settings.launch, after.settings.launch);
    keep_counts(settings);
    SEXTANT_TRY(emit::Patch patch, patch_with(settings));
    SEXTANT_TRY(std::vector<std::string> wrong, what_is_wrong(patch));
    if (!wrong.empty() && add_batch(after.settings, settings)) {
      SEXTANT_TRY(patch, patch_with(settings));
      SEXTANT_TRY(wrong, what_is_wrong(patch));
    }
    return answer_of(std::move(patch), std::move(wrong), after.left_out);
  }

 private:
  // Counts that the files state stay, so that no literal they share with a degree is changed.
  void keep_counts(emit::Settings& settings) const {
    for (const Setting& one : files_.settings.launch) {
      const bool count = one.key == "nodes" || one.key == "devices_per_node";
      if (count && emit::find(settings.launch, one.key) == nullptr) {
        settings.launch.push_back({one.key, one.values});
      }
    }
  }

  // What says the batch, where it follows from what was changed: true where there is any to add.
  bool add_batch(const emit::Settings& after, emit::Settings& settings) const {
    bool added = false;
    for (const Setting& one : after.given) {
      const bool batch = one.key.find("batch") != std::string::npos ||
                         one.key.find("accumulation") != std::string::npos;
      const Setting* now = emit::find(files_.settings.given, one.key);
      if (batch && emit::find(settings.given, one.key) == nullptr &&
          (now == nullptr || now->values != one.values)) {
        settings.given.push_back(one);
        added = true;
      }
    }
    return added;
  }

  [[nodiscard]] Result<emit::Patch> patch_with(const emit::Settings& settings) const {
    if (texts_.size() == 1 && files_.files.size() == 1 &&
        files_.files.back().kind == emit::FileKind::kShell) {
      return emit::patch_script(texts_.back(), settings);
    }
    return emit::patch_of(files_.settings, settings, texts_);
  }

  [[nodiscard]] std::vector<emit::File> changed_texts(const emit::Patch& patch) const {
    std::vector<emit::File> changed = texts_;
    for (emit::File& file : changed) {
      file.text = emit::applied(file.text, edits_of(patch, file.name));
    }
    return changed;
  }

  static std::vector<emit::Edit> edits_of(const emit::Patch& patch, const std::string& file) {
    std::vector<emit::Edit> edits;
    std::ranges::copy_if(patch.edits, std::back_inserter(edits),
                         [&file](const emit::Edit& edit) { return edit.file == file; });
    return edits;
  }

  // How the job of the changed files is not the one that was asked for.
  [[nodiscard]] Result<std::vector<std::string>> what_is_wrong(const emit::Patch& patch) const {
    std::vector<std::string> wrong;
    if (patch.edits.empty()) {
      return wrong;
    }
    FileRequest words = file_words(request_);
    words.texts = changed_texts(patch);
    const auto after = read_files(words, context_);
    if (!after) {
      wrong.push_back("the changed files cannot be read: " + to_text(after.error()));
      return wrong;
    }
    const std::optional<describe::Job>& job = after->job;
    if (!job) {
      wrong.push_back("of the changed files " +
                      (after->open.empty() ? "the job is not known" : after->open.front()));
      return wrong;
    }
    compare_sizes(*job, wrong);
    compare_layouts(job->layout, patch, wrong);
    for (const describe::Violation& one : describe::refusals(after->violations)) {
      const bool old = std::ranges::any_of(
          files_.violations, [&](const describe::Violation& was) { return was.rule == one.rule; });
      if (!old) {
        wrong.push_back(fmt::format("{}: {}", one.rule, one.message));
      }
    }
    return wrong;
  }

  void compare_sizes(const describe::Job& after, std::vector<std::string>& wrong) const {
    const auto compare = [&](std::string_view what, std::int64_t is, std::int64_t was) {
      if (is != was) {
        wrong.push_back(fmt::format("{} would be {}, not {}", what, is, was));
      }
    };
    compare("the devices", after.cluster.devices, wanted_.cluster.devices);
    compare("the global batch", after.global_batch, wanted_.global_batch);
    compare("the sequence length", after.sequences.length, wanted_.sequences.length);
  }

  // Where something is left to be done by hand, only what is neither as it was nor as it is wanted
  // is wrong.
  void compare_layouts(const describe::Layout& after, const emit::Patch& patch,
                       std::vector<std::string>& wrong) const {
    const auto is = describe::layout_values(after);
    const auto was = describe::layout_values(now_.layout);
    const auto want = describe::layout_values(wanted_.layout);
    for (std::size_t i = 0; i < is.size(); ++i) {
      const auto& [key, value] = is[i];
      const bool follows = key == "dp" || key == "zero_group" || key == "pp_layers";
      const bool halfway = !patch.by_hand.empty() && value == was[i].second;
      if (value != want[i].second && !halfway && !follows) {
        wrong.push_back(fmt::format("{} would be {}, not {}", key, value, want[i].second));
      }
    }
  }

  [[nodiscard]] explain::PatchAnswer answer_of(emit::Patch patch, std::vector<std::string> wrong,
                                               std::vector<emit::Inexpressible> left_out) const {
    explain::PatchAnswer answer;
    answer.provenance = {std::string(explain::tool_version()), files_.inputs};
    answer.left_out = std::move(left_out);
    answer.by_hand = std::move(patch.by_hand);
    for (emit::ByHand& one : answer.by_hand) {
      one.key = spelled_key(one.key);
    }
    answer.not_offered = std::move(wrong);
    for (const emit::File& file : texts_) {
      if (answer.not_offered.empty()) {
        answer.diff += emit::unified_diff(file.name, file.text,
                                          emit::applied(file.text, edits_of(patch, file.name)));
      }
    }
    return answer;
  }

  // As the user types it: Megatron's settings are flags.
  [[nodiscard]] std::string spelled_key(const std::string& key) const {
    const bool flag = files_.settings.dialect == emit::Dialect::kMegatron &&
                      emit::find(files_.settings.launch, key) == nullptr &&
                      key.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos;
    return flag ? emit::flag_words({key, {"?"}}).front() : key;
  }

  const EmitRequest& request_;
  const Context& context_;
  const FileJob& files_;
  const describe::Job& now_;
  const describe::Job& wanted_;
  std::vector<emit::File> texts_;
};

std::vector<std::string> patch_notes(const explain::PatchAnswer& answer) {
  std::vector<std::string> notes;
  for (const std::string& why : answer.not_offered) {
    notes.push_back("no patch is offered: " + why);
  }
  for (const emit::ByHand& one : answer.by_hand) {
    notes.push_back(fmt::format("{}: change {} by hand{}: {}", emit::to_text(one.place), one.key,
                                one.wanted.empty() ? "" : fmt::format(" to {}", one.wanted),
                                one.why));
  }
  for (const emit::Inexpressible& one : answer.left_out) {
    notes.push_back(explain::to_text(one));
  }
  return notes;
}

}  // namespace

Result<Answered<EmitReply>> patch_for(const EmitRequest& request, const Context& context) {
  SEXTANT_TRY(const FileJob files, read_files(file_words(request), context));
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
  SEXTANT_TRY(explain::PatchAnswer answer,
              Patching(request, context, files, *files.job, job).made());
  Answered<EmitReply> answered;
  answered.notes = patch_notes(answer);
  answered.outcome = answer.not_offered.empty() ? Outcome::kFine : Outcome::kNo;
  answered.answer = std::move(answer);
  return answered;
}

}  // namespace sextant::app
