#include "capture/capture.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "capture/batch.h"
#include "capture/masks.h"
#include "capture/stand_ins.h"
#include "emit/shell_script.h"

namespace sextant::capture {
namespace {

constexpr Bytes kMostScript = 4_MiB;
constexpr std::size_t kMostFileBytes = std::size_t{2} << 20U;    // of all files of a record
constexpr std::size_t kMostRecordWords = std::size_t{1} << 20U;  // bytes of all words
// Variables that launchers and frameworks read: kept where the script did not set them either.
constexpr std::array<std::string_view, 14> kReadBeginnings{
    "SLURM_", "NCCL_",  "CUDA_",  "TORCH",     "NVTE_",  "OMP_",        "PYTORCH_",
    "WORLD_", "MASTER", "NNODES", "NODE_RANK", "NPROC_", "ACCELERATE_", "XLA_"};

std::string valid_text(std::string_view text) {
  std::string kept(text);
  while (const auto bad = first_invalid_utf8(kept)) {
    kept[*bad] = '?';
  }
  std::ranges::replace(kept, '\0', '?');
  return kept;
}

// Does the text hold what no configuration file holds?
bool is_plain_text(std::string_view text) {
  return text.find('\0') == std::string_view::npos && !first_invalid_utf8(text);
}

std::string script_text(const CaptureRequest& request) {
  for (std::size_t i = 0; i < request.command.size(); ++i) {
    const std::filesystem::path path = std::filesystem::path(request.folder) / request.command[i];
    std::error_code error;
    const bool program = i == 0 && request.command[i].find('/') == std::string::npos;
    if (!program && std::filesystem::is_regular_file(path, error)) {
      const auto text = read_file(path, kMostScript);
      return text ? *text : std::string();
    }
    if (request.command[i] == "-c" && i + 1 < request.command.size()) {
      return request.command[i + 1];
    }
  }
  return {};
}

// One run's calls as a record, by the order they were made.
class Collected {
 public:
  Collected(const CaptureRequest& request, const SandboxResult& result) {
    for (const std::string& variable : request.environment) {
      started_with_.insert(variable);
    }
    for (const auto& [id, bytes] : result.calls) {
      if (auto call = unspooled(bytes, id)) {
        add(std::move(*call));
      } else {
        ++broken_;
      }
    }
  }

  [[nodiscard]] bool asked() const { return !questions_.empty(); }
  [[nodiscard]] const std::set<std::string>& questions() const { return questions_; }

  emit::CaptureRecord record() {
    for (auto& [path, text] : files_) {
      record_.files.push_back({path, std::move(text)});
    }
    for (const auto& [program, times] : silent_) {
      record_.notes.push_back(fmt::format("{} was called {} time{}: its stand-in said nothing",
                                          program, times, times == 1 ? "" : "s"));
    }
    if (broken_ > 0) {
      record_.notes.push_back(
          fmt::format("{} calls were not left as stand-ins leave them", broken_));
    }
    if (cut_) {
      record_.notes.emplace_back("there is more than a record holds: the rest is left out");
    }
    return std::move(record_);
  }

 private:
  void add(SpooledCall call) {
    if (!call.question.empty()) {
      questions_.insert(call.question);
      return;
    }
    const StandIn* by = stand_in_of(call.words.front());
    if (by != nullptr && (by->kind == StandInKind::kNetwork || by->kind == StandInKind::kWrapper)) {
      ++silent_[std::string(by->name)];
      return;
    }
    for (const std::string& word : call.words) {
      bytes_ += word.size();
    }
    if (record_.calls.size() >= emit::kMostCaptureCalls || bytes_ > kMostRecordWords) {
      cut_ = true;
      return;
    }
    for (auto& [path, text] : call.files) {
      file_bytes_ += files_.contains(path) ? 0 : text.size();
      if (file_bytes_ > kMostFileBytes || !is_plain_text(text)) {
        cut_ = cut_ || file_bytes_ > kMostFileBytes;
        continue;
      }
      files_[valid_text(path)] = std::move(text);
    }
    places_[call.id] = record_.calls.size();
    record_.calls.push_back(captured(call));
  }

  [[nodiscard]] emit::CapturedCall captured(const SpooledCall& call) const {
    emit::CapturedCall made;
    for (const std::string& word : call.words) {
      made.words.push_back(valid_text(word));
    }
    made.folder = valid_text(call.folder);
    made.launches = call.launches;
    if (const auto outer = places_.find(call.outer); outer != places_.end()) {
      made.outer = outer->second;
    }
    std::map<std::string, std::string> environment;
    for (const std::string& variable : call.environment) {
      const std::size_t equals = variable.find('=');
      const std::string_view name = std::string_view(variable).substr(0, equals);
      const bool read = std::ranges::any_of(
          kReadBeginnings, [&](std::string_view beginning) { return name.starts_with(beginning); });
      const bool shell = is_one_of(name, {"PWD", "OLDPWD", "SHLVL", "_", "PATH"});
      if (equals != std::string::npos && !shell && (read || !started_with_.contains(variable))) {
        environment[valid_text(name)] = valid_text(std::string_view(variable).substr(equals + 1));
      }
    }
    made.environment.assign(environment.begin(), environment.end());
    return made;
  }

  std::set<std::string> started_with_;
  std::set<std::string> questions_;
  std::map<std::string, std::size_t> places_;
  std::map<std::string, std::string> files_;
  std::map<std::string, int> silent_;
  emit::CaptureRecord record_;
  std::size_t bytes_ = 0;
  std::size_t file_bytes_ = 0;
  int broken_ = 0;
  bool cut_ = false;
};

// The variables that Slurm would set, where the script is a batch script and the user set none.
void add_batch(const CaptureRequest& request, const std::vector<std::string>& words,
               SandboxRequest& sandbox) {
  if (words.empty()) {
    return;
  }
  for (const auto& [name, value] : batch_variables(words, request.answers)) {
    const bool given = std::ranges::any_of(sandbox.environment, [&](const std::string& one) {
      return one.starts_with(name) && one.size() > name.size() && one[name.size()] == '=';
    });
    if (!given) {
      sandbox.environment.push_back(fmt::format("{}={}", name, value));
    }
  }
  sandbox.environment.push_back(fmt::format("SLURM_SUBMIT_DIR={}", request.folder));
}

void put_stand_ins_first(SandboxRequest& sandbox) {
  std::string path = "/usr/local/bin:/usr/bin:/bin";
  std::erase_if(sandbox.environment, [&](const std::string& variable) {
    const bool is_path = variable.starts_with("PATH=");
    path = is_path ? variable.substr(5) : path;
    return is_path || variable.starts_with("BASH_ENV=") || variable.starts_with("ENV=") ||
           variable.starts_with("LD_PRELOAD=");
  });
  sandbox.environment.push_back(fmt::format("PATH={}:{}", kBin, path));
  // A function stands over PATH, which a script may put other folders in front of.
  for (const StandIn& one : stand_ins()) {
    if (one.name != "sleep") {
      sandbox.environment.push_back(
          fmt::format("BASH_FUNC_{0}%%=() {{ {1}/{0} \"$@\"\n}}", one.name, kBin));
    }
  }
}

SandboxRequest sandbox_request(const CaptureRequest& request,
                               const std::vector<std::string>& batch) {
  SandboxRequest sandbox{.command = request.command,
                         .folder = request.folder,
                         .environment = request.environment,
                         .answers = request.answers,
                         .limits = request.limits};
  add_batch(request, batch, sandbox);
  put_stand_ins_first(sandbox);
  return sandbox;
}

std::string end_note(const SandboxResult& result, const SandboxLimits& limits) {
  switch (result.end) {
    case SandboxEnd::kExited:
      return result.exit_code == 0
                 ? std::string()
                 : fmt::format("the script ended with {}: what it would start later is not known",
                               result.exit_code);
    case SandboxEnd::kTime:
      return fmt::format("the script was ended after {} s: what it would start later is not known",
                         limits.seconds);
    case SandboxEnd::kProcesses:
      return fmt::format("the script was ended: it had more than {} processes", limits.processes);
    case SandboxEnd::kMemory:
      return fmt::format("the script was ended: it held more than {} MiB", limits.memory_mib);
  }
  return {};
}

// Another answer to everything that nobody said.
Answers other_answers(Answers answers) {
  constexpr int kOtherDevices = 4;
  constexpr int kOtherNodes = 4;
  answers.stand_in_devices = kOtherDevices;
  answers.stand_in_nodes = kOtherNodes;
  answers.device_name += " (another)";
  return answers;
}

void note_what_is_open(const std::set<std::string>& questions, emit::CaptureRecord& record) {
  for (const std::string& question : questions) {
    record.notes.push_back(fmt::format(
        "the script asked {}: nobody said, so what depends on it is not known", question));
  }
  const bool open = std::ranges::any_of(
      record.calls, [](const emit::CapturedCall& call) { return !call.open.empty(); });
  if (questions.empty() && open) {
    record.notes.emplace_back(
        "words came out otherwise when the script ran again ($RANDOM, a date): they are not known");
  }
}

}  // namespace

WouldRun would_run(const CaptureRequest& request) {
  WouldRun would;
  const auto add = [](std::vector<std::string>& list, std::string_view name) {
    const std::string shown = printable(name, 40);
    if (std::ranges::find(list, shown) == list.end()) {
      list.push_back(shown);
    }
  };
  const auto place = [&](const std::string& word) {
    if (const StandIn* by = stand_in_of(word)) {
      add(would.stand_ins, by->name);
    } else if (!word.empty() && word[0] != '-' && word[0] != '$') {
      add(would.own, emit::base_name(word));
    }
  };
  place(request.command.front());
  const auto script = emit::read_shell_script(script_text(request), "script");
  if (script) {
    for (const emit::ScriptCommand& command : script->commands) {
      place(command.words.front().at.text);
    }
  }
  return would;
}

void open_what_differs(emit::CaptureRecord& first, const emit::CaptureRecord& second) {
  for (std::size_t i = 0; i < first.calls.size(); ++i) {
    emit::CapturedCall& call = first.calls[i];
    const emit::CapturedCall* other = i < second.calls.size() ? &second.calls[i] : nullptr;
    const bool same_program = other != nullptr && other->words.front() == call.words.front();
    bool aligned = same_program;
    for (std::size_t k = 0; k < call.words.size(); ++k) {
      const bool same = aligned && k < other->words.size() && other->words[k] == call.words[k];
      if (!same) {
        call.open.push_back(k);
      }
      aligned = aligned && other->words.size() == call.words.size();
      if (same_program && !aligned) {
        aligned = same;  // as long as they agree from the beginning
      }
    }
    std::erase_if(call.environment, [&](const auto& one) {
      return other == nullptr ||
             std::ranges::find(other->environment, one) == other->environment.end();
    });
  }
  std::erase_if(first.files, [&](const emit::CapturedFile& file) {
    return std::ranges::none_of(second.files, [&](const emit::CapturedFile& other) {
      return other.path == file.path && other.text == file.text;
    });
  });
}

Result<CaptureRun> capture_job(const CaptureRequest& request) {
  const std::vector<std::string> batch = batch_words(script_text(request));
  SandboxRequest sandbox = sandbox_request(request, batch);
  SEXTANT_TRY(const SandboxResult result, run_in_sandbox(sandbox));
  Collected collected(request, result);
  CaptureRun run;
  run.end = result.end;
  run.ended_with = result.exit_code;
  run.record = collected.record();
  if (collected.asked() || !run.record.calls.empty()) {
    sandbox.answers = other_answers(sandbox.answers);
    SEXTANT_TRY(const SandboxResult again, run_in_sandbox(sandbox));
    open_what_differs(run.record, Collected(request, again).record());
    note_what_is_open(collected.questions(), run.record);
  }
  run.record.command = request.command;
  run.record.folder = valid_text(request.folder);
  run.record.cluster = request.cluster;
  for (const std::string& word : batch) {
    run.record.batch.push_back(valid_text(word));
  }
  if (const std::string note = end_note(result, request.limits); !note.empty()) {
    run.record.notes.push_back(note);
  }
  if (result.calls_cut) {
    run.record.notes.emplace_back(
        "there were more calls than a record holds: the rest is left out");
  }
  run.output = valid_text(result.output);
  mask_secrets(request.environment, run.record, run.output);
  return run;
}

}  // namespace sextant::capture
