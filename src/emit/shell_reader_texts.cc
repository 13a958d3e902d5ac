// Texts and files that a script runs or reads in turn: eval, bash -c, source, bash train.sh,
// sbatch.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "emit/shell_reader.h"

namespace sextant::emit {
namespace {

bool starts_others(std::string_view program) {
  return is_one_of(
      program,
      {"srun",    "sbatch", "mpirun", "mpiexec",     "torchrun", "exec",      "nohup",     "nice",
       "numactl", "env",    "time",   "singularity", "docker",   "apptainer", "enroot",    "pdsh",
       "qsub",    "bsub",   "sudo",   "timeout",     "python",   "python3",   "accelerate"});
}

bool is_script_name(std::string_view name) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{".sh", ".bash", ".sbatch", ".slurm"},
      [&](std::string_view ending) { return name.ends_with(ending); });
}

// Which field starts the text another shell would run: behind `bash -c`, or behind `eval`.
std::optional<std::size_t> text_to_run(const std::vector<ShellRuns>& fields) {
  if (text_of(fields[0]) == "eval") {
    return fields.size() > 1 ? std::optional<std::size_t>(1) : std::nullopt;
  }
  for (std::size_t i = 0; i + 1 < fields.size(); ++i) {
    if (!is_shell(text_of(fields[i]))) {
      continue;
    }
    for (std::size_t j = i + 1; j + 1 < fields.size(); ++j) {
      const std::string option = text_of(fields[j]);
      if (!option.starts_with('-')) {
        break;
      }
      if (!option.starts_with("--") && option.ends_with('c')) {
        return j + 1;
      }
    }
  }
  return std::nullopt;
}

// The first field from `first` on that is no option.
std::optional<std::size_t> no_option(const std::vector<ShellRuns>& fields, std::size_t first) {
  for (std::size_t i = first; i < fields.size(); ++i) {
    if (!text_of(fields[i]).starts_with('-')) {
      return i;
    }
  }
  return std::nullopt;
}

// Which field names a script that is started: by itself, behind a shell, or behind a launcher.
std::optional<std::size_t> script_to_run(const std::vector<ShellRuns>& fields) {
  const std::size_t last = starts_others(base_name(text_of(fields[0]))) ? fields.size() : 1;
  for (std::size_t i = 0; i < last; ++i) {
    const std::string word = text_of(fields[i]);
    if (is_shell(word)) {
      return no_option(fields, i + 1);
    }
    if (is_script_name(word) && !word.starts_with('-')) {
      return i;
    }
    if (word.ends_with(".py")) {  // what follows are its arguments
      break;
    }
  }
  return std::nullopt;
}

// "dir/x.sh" of "./dir/x.sh".
std::string_view plain_path(std::string_view path) {
  while (path.starts_with("./")) {
    path.remove_prefix(2);
  }
  return path;
}

// What stands behind the last part that is not known: "/params.sh" of "$(pwd)/params.sh".
std::string known_tail(const ShellRuns& path) {
  std::string tail;
  bool cut = false;
  for (const ShellRun& run : path) {
    if (run.why.empty()) {
      tail += run.text;
    } else {
      tail.clear();
      cut = true;
    }
  }
  if (!cut) {
    return tail;
  }
  return tail.starts_with('/') ? tail.substr(1) : std::string();
}

}  // namespace

bool is_shell(std::string_view program) {
  return is_one_of(base_name(program), {"bash", "sh", "zsh"});
}

const ShellReader::Written* ShellReader::written_file(std::string_view path) const {
  const std::string_view plain = plain_path(path);
  for (const auto& [name, file] : written_) {
    if (plain_path(name) == plain) {
      return &file;
    }
  }
  return nullptr;
}

Result<const ShellReader::Parsed*> ShellReader::parsed_text(std::string text,
                                                            std::vector<ShellStretch> stretches,
                                                            std::string_view name) {
  inner_bytes_ += texts_.empty() ? 0 : text.size();
  if (inner_bytes_ > kMaxShellText) {
    return invalid("the texts that the script runs come to too much", std::string(name_),
                   fmt::format("at most {} bytes", kMaxShellText));
  }
  texts_.push_back({std::move(text), {}, std::move(stretches)});
  SEXTANT_TRY(texts_.back().shell, shell_commands(texts_.back().text, name));
  return &texts_.back();
}

// A text put together from runs; what is not known keeps its spelling and its reason.
Result<const ShellReader::Parsed*> ShellReader::parsed_runs(const ShellRuns& runs,
                                                            const ShellSpot& spot) {
  std::string text;
  std::vector<ShellStretch> stretches;
  for (const ShellRun& run : runs) {
    const bool here =
        run.branch == 0 || std::ranges::find(spot.branches, run.branch) != spot.branches.end();
    stretches.push_back(
        {text.size(), run.text.size(), run.origin, run.verbatim, here ? 0 : run.branch, {}});
    text += run.text;
  }
  return parsed_text(std::move(text), std::move(stretches), name_);
}

// A file that the script wrote, or one that the caller finds; nothing where there is none.
Result<const ShellReader::Parsed*> ShellReader::parsed_file(const ShellRuns& path,
                                                            const ShellSpot& spot) {
  if (const Written* written = written_file(text_of(path))) {
    return written->known ? parsed_runs(written->text, spot) : Result<const Parsed*>(nullptr);
  }
  const std::string tail = known_tail(path);
  if (tail.empty() || !invocation_.file || files_.size() >= kMaxShellFiles) {
    return nullptr;
  }
  if (const auto found = files_.find(tail); found != files_.end()) {
    return found->second;
  }
  const Parsed*& kept = files_[tail];
  kept = nullptr;
  const auto found = invocation_.file(tail);
  if (!found || found->name == name_ || sources_.bytes() + found->text.size() > kMaxShellText) {
    return nullptr;
  }
  const ShellSources::Source& source = sources_.add(found->text, found->name);
  auto parsed =
      parsed_text(source.text, {{0, source.text.size(), source.base, true, 0, {}}}, source.name);
  if (!parsed) {
    return nullptr;  // bash could not read it either; what it would set is not known
  }
  script_.followed.push_back(found->name);
  kept = *parsed;
  return kept;
}

Result<std::optional<ShellReader::Ending>> ShellReader::run_inner(const Fields& fields,
                                                                  const Outer& made) {
  if (const auto text = text_to_run(fields.fields)) {
    if (made.depth >= kMaxShellCalls) {
      return invalid("commands stand too deep in each other's text",
                     fmt::format("{}:{}", name_, made.at.line),
                     fmt::format("at most {} levels of bash -c", kMaxShellCalls));
    }
    const bool evaluates = text_of(fields.fields[0]) == "eval";
    SEXTANT_TRY(const Ending ending,
                run_inner_text(fields, *text, evaluates ? fields.fields.size() : *text + 1, made));
    return evaluates ? ending : Ending{};
  }
  const auto script = script_to_run(fields.fields);
  if (!script || made.depth >= kMaxShellCalls || !has_time()) {
    return std::nullopt;
  }
  SEXTANT_TRY(const Parsed* parsed, parsed_file(fields.fields[*script], made.spot));
  if (parsed == nullptr) {
    return std::nullopt;
  }
  SEXTANT_TRY(const Ending ending, run_file(*parsed, fields, *script, made));
  return ending;
}

Result<ShellReader::Ending> ShellReader::run_inner_text(const Fields& fields, std::size_t first,
                                                        std::size_t last, Outer made) {
  if (text_of(fields.fields[0]) != "eval") {
    for (std::size_t i = 0; i < first; ++i) {
      made.words.push_back(word_of(fields.fields[i], made.spot, false));
    }
  }
  ShellRuns runs;
  for (std::size_t i = first; i < last; ++i) {
    if (i > first) {
      runs.push_back({.text = " "});
    }
    runs.insert(runs.end(), fields.fields[i].begin(), fields.fields[i].end());
  }
  if (text_of(runs).empty()) {
    return Ending{};
  }
  made.inner = true;
  ++made.depth;
  const std::string where = fmt::format("{}:{}", name_, made.at.line);
  auto parsed = parsed_runs(runs, made.spot);
  if (!parsed) {
    parsed.error().where = where;
    return tl::unexpected(parsed.error());
  }
  Result<Ending> ending = run_text(**parsed, made);
  if (!ending && !made.at.file.empty()) {
    ending.error().where = where;
  }
  return ending;
}

// Another script, with the variables that are exported and arguments of its own.
Result<ShellReader::Ending> ShellReader::run_file(const Parsed& parsed, const Fields& fields,
                                                  std::size_t at, Outer made) {
  for (std::size_t i = 0; at > 0 && i < at; ++i) {
    made.words.push_back(word_of(fields.fields[i], made.spot, false));
  }
  if (at == 1 && is_shell(text_of(fields.fields[0]))) {  // `bash train.sh` starts nothing else
    made.words.pop_back();
  }
  ++made.depth;
  made.inner = false;
  const bool batch = base_name(text_of(fields.fields[0])) == "sbatch";
  ShellState::Variables before = state_.exchange_variables(state_.exported());
  for (const ScriptVariable& variable : made.environment) {
    const ScriptWord& value = variable.values.front();
    state_.set(variable.name, {{{.text = value.at.text, .quoted = true, .why = value.why}}}, false,
               {});
  }
  made.environment.clear();
  std::vector<ShellRuns> arguments_before = std::exchange(arguments_, {});
  std::vector<ShellRuns> arguments;
  for (std::size_t i = at + 1; i < fields.fields.size(); ++i) {
    arguments.push_back(fields.fields[i]);
  }
  put_arguments(std::move(arguments));
  auto functions_before = std::exchange(functions_, {});
  if (batch) {
    for (const ScriptWord& word : made.words) {
      script_.batch.push_back(word);
    }
    const std::size_t base = parsed.stretches.empty() ? kNoOrigin : parsed.stretches[0].origin;
    read_batch_lines(parsed.text, base);
    define_batch();
  }
  const std::size_t first = script_.commands.size();
  SEXTANT_CHECK_OK(run_text(parsed, made));
  keep_exported(first);
  functions_ = std::move(functions_before);
  state_.exchange_variables(std::move(before));
  arguments_ = std::move(arguments_before);
  return Ending{};
}

// What another script exports is the environment of the commands in it.
void ShellReader::keep_exported(std::size_t first) {
  constexpr std::size_t kMost = 64;
  std::vector<ScriptVariable> exported;
  for (const auto& [name, variable] : state_.variables()) {
    const Result<ShellState::Value> value = state_.value_of(name, {});
    if (variable.exported && exported.size() < kMost && value && value->elements.size() == 1) {
      exported.push_back({name, {value_word(value->elements[0], {})}, true});
    }
  }
  for (std::size_t i = first; i < script_.commands.size(); ++i) {
    auto& environment = script_.commands[i].environment;
    environment.insert(environment.begin(), exported.begin(), exported.end());
    words_ += exported.size();
  }
}

Result<std::optional<ShellReader::Ending>> ShellReader::source_file(const Fields& fields,
                                                                    const Outer& made) {
  if (fields.fields.size() < 2 || made.depth >= kMaxShellCalls || !has_time()) {
    return std::nullopt;
  }
  SEXTANT_TRY(const Parsed* parsed, parsed_file(fields.fields[1], made.spot));
  if (parsed == nullptr) {
    return std::nullopt;
  }
  Outer inside = made;
  inside.environment.clear();
  inside.inner = false;
  ++inside.depth;
  SEXTANT_TRY(const Ending ending, run_text(*parsed, inside));
  return Ending{ending.flow == Flow::kExit ? Flow::kExit : Flow::kOn, Flow::kOn};
}

}  // namespace sextant::emit
