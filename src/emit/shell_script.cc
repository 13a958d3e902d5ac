#include "emit/shell_script.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/integers.h"
#include "base/text.h"
#include "emit/shell_conditions.h"
#include "emit/shell_state.h"

namespace sextant::emit {
namespace {

constexpr int kMaxNestedTexts = 4;  // bash -c "bash -c …"
constexpr int kBranchesOfOneText = 1 << 20;

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_.+~-").find(c) != std::string_view::npos;
}

// Where the value starts: behind the '=' of "--flag=value" and "key=value", else at the beginning.
std::size_t value_start(std::string_view text) {
  const std::size_t equals = text.find('=');
  return equals != std::string_view::npos && equals > 0 &&
                 std::ranges::all_of(text.substr(0, equals), is_key_character)
             ? equals + 1
             : 0;
}

// $X, "$@" and "${A[@]}" by themselves: what they hold decides how many words they are.
bool may_be_several(const ShellWord& word) {
  const ShellPiece* only = nullptr;
  for (const ShellPiece& piece : word.pieces) {
    if (piece.kind == ShellPiece::Kind::kText && piece.text.empty()) {
      continue;
    }
    if (only != nullptr) {
      return false;
    }
    only = &piece;
  }
  return only != nullptr && (!only->quoted || only->text == "@" || only->index == "@");
}

class Script {
 public:
  Script(std::string_view text, std::string_view name)
      : text_(text), name_(name), state_(text, name) {}

  Result<ShellScript> read(const ShellInvocation& invocation) {
    start_as(invocation);
    read_batch_lines();
    SEXTANT_CHECK_OK(read_text(text_, {}, 0));
    for (const auto& [variable, state] : state_.variables()) {
      if (!state.values.empty()) {
        list_variable(variable, state);
      }
    }
    return std::move(script_);
  }

 private:
  // The command whose text is being read: its words come first, its branches hold.
  struct Outer {
    std::vector<ScriptWord> words;
    std::vector<ScriptVariable> environment;
    ShellSpot spot;
    std::int64_t line = 0;
  };

  Result<void> read_text(std::string_view text, const Outer& outer, int depth) {
    SEXTANT_TRY(const std::vector<ShellCommand> commands, shell_commands(text, name_));
    open_loops(commands);
    for (const ShellCommand& command : commands) {
      ShellSpot spot = outer.spot;
      spot.in_loop = spot.in_loop || command.in_loop;
      bool runs = true;
      for (const int branch : command.branches) {
        const int number = branch + depth * kBranchesOfOneText;
        const auto found = truth_.find(number);
        const Truth truth = found == truth_.end() ? Truth::kUnknown : found->second;
        runs = runs && truth != Truth::kNo;
        if (truth == Truth::kUnknown) {
          spot.branches.push_back(number);
        }
      }
      if (!runs) {
        continue;
      }
      if (command.begins.number != 0) {
        SEXTANT_CHECK_OK(begin_branch(command.begins, spot, depth));
      } else {
        SEXTANT_CHECK_OK(read_command(command, outer, spot, depth));
      }
    }
    return {};
  }

  // Of an if or a case one branch is taken at most; what follows one that may be taken is open too.
  Result<void> begin_branch(const ShellBranch& branch, const ShellSpot& spot, int depth) {
    SEXTANT_TRY(Truth truth, branch_is_taken(branch, spot, state_));
    if (branch.loop && truth == Truth::kYes) {
      truth = Truth::kUnknown;  // how often is not known
    }
    const int number = branch.number + depth * kBranchesOfOneText;
    if (branch.group != 0) {
      Group& group = groups_[branch.group + depth * kBranchesOfOneText];
      if (group.first == 0 || number <= group.first) {
        group = {number, false, false};
      }
      if (group.taken) {
        truth = Truth::kNo;
      } else if (branch.otherwise) {
        truth = group.open ? Truth::kUnknown : Truth::kYes;
      } else if (truth == Truth::kYes) {
        group.taken = true;
        truth = group.open ? Truth::kUnknown : Truth::kYes;
      } else if (truth == Truth::kUnknown) {
        group.open = true;
      }
    }
    truth_[number] = truth;
    return {};
  }

  Result<void> read_command(const ShellCommand& command, const Outer& outer, const ShellSpot& spot,
                            int depth) {
    Outer made;
    made.spot = spot;
    made.line = depth == 0 ? state_.line_of(command.offset) : outer.line;
    made.words = outer.words;
    made.environment = outer.environment;
    for (const ShellAssignment& assignment : command.assignments) {
      if (command.words.empty()) {
        SEXTANT_CHECK_OK(state_.assign(assignment, spot));
      } else if (assignment.values.size() == 1) {
        SEXTANT_TRY(const ShellRuns runs, state_.joined(assignment.values[0].pieces, spot));
        made.environment.push_back({assignment.name, {value_word(runs, spot)}, true});
      }
    }
    std::vector<ShellRuns> fields;
    std::vector<bool> splits;
    for (const ShellWord& word : command.words) {
      SEXTANT_TRY(std::vector<ShellRuns> parts, state_.fields(word, spot));
      for (ShellRuns& part : parts) {
        fields.push_back(std::move(part));
        splits.push_back(may_be_several(word));
      }
    }
    if (fields.empty()) {
      return {};
    }
    const std::string program = text_of(fields[0]);
    if (program == "shift") {
      shift(fields.size() > 1 ? text_of(fields[1]) : std::string(), spot);
    }
    if (program == "source" || program == ".") {
      state_.note_source(command.offset);
    }
    if (const std::optional<std::size_t> inner = text_to_run(fields)) {
      return read_inner(fields, *inner, std::move(made), depth);
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      made.words.push_back(word_of(fields[i], spot, splits[i]));
    }
    script_.commands.push_back({std::move(made.environment), std::move(made.words), made.line});
    return {};
  }

  // Which field starts the text another shell would run: behind `bash -c`, or behind `eval`.
  static std::optional<std::size_t> text_to_run(const std::vector<ShellRuns>& fields) {
    if (text_of(fields[0]) == "eval") {
      return fields.size() > 1 ? std::optional<std::size_t>(1) : std::nullopt;
    }
    for (std::size_t i = 0; i + 1 < fields.size(); ++i) {
      const std::string word = text_of(fields[i]);
      const std::string_view shell = base_name(word);
      if (shell != "bash" && shell != "sh" && shell != "zsh") {
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

  Result<void> read_inner(const std::vector<ShellRuns>& fields, std::size_t first, Outer made,
                          int depth) {
    if (depth >= kMaxNestedTexts) {
      return invalid("commands stand too deep in each other's text",
                     fmt::format("{}:{}", name_, made.line),
                     fmt::format("at most {} levels of bash -c", kMaxNestedTexts));
    }
    const bool evaluates = text_of(fields[0]) == "eval";
    for (std::size_t i = 0; !evaluates && i < first; ++i) {
      made.words.push_back(word_of(fields[i], made.spot, false));
    }
    std::string text;
    std::vector<ShellStretch> stretches;
    for (std::size_t i = first; i < (evaluates ? fields.size() : first + 1); ++i) {
      if (i > first) {
        stretches.push_back({text.size(), 1, kNoOrigin, false, 0, {}});
        text += ' ';
      }
      for (const ShellRun& run : fields[i]) {
        const bool here = run.branch == 0 || std::ranges::find(made.spot.branches, run.branch) !=
                                                 made.spot.branches.end();
        stretches.push_back({text.size(), run.text.size(), run.origin, run.verbatim,
                             here ? 0 : run.branch, std::string()});
        text += run.text;
      }
    }
    inner_bytes_ += text.size();
    if (inner_bytes_ > kMaxShellExpansion) {
      return invalid("the texts of bash -c come to too much",
                     fmt::format("{}:{}", name_, made.line),
                     fmt::format("at most {} bytes", kMaxShellExpansion));
    }
    if (text.empty()) {
      return {};
    }
    // Numbers of branches begin anew in every text.
    const int first_of_text = (depth + 1) * kBranchesOfOneText;
    truth_.erase(truth_.lower_bound(first_of_text), truth_.end());
    groups_.erase(groups_.lower_bound(first_of_text), groups_.end());
    const std::string_view text_before = state_.reading();
    std::vector<ShellStretch> stretches_before = std::exchange(stretches_, stretches);
    state_.read_from(text, std::move(stretches));
    Result<void> read = read_text(text, made, depth + 1);
    if (!read) {
      read.error().where = fmt::format("{}:{}", name_, made.line);
      return read;
    }
    stretches_ = stretches_before;
    state_.read_from(text_before, std::move(stretches_before));
    return {};
  }

  [[nodiscard]] ScriptWord word_of(const ShellRuns& runs, const ShellSpot& spot,
                                   bool may_split) const {
    ScriptWord word;
    word.at.text = text_of(runs);
    word.at.place = place_of(runs, value_start(word.at.text));
    word.may_split = may_split && runs.size() == 1;
    for (const ShellRun& run : runs) {
      if (!run.why.empty()) {
        word.why = run.why;
      } else if (word.why.empty() && run.branch != 0 &&
                 std::ranges::find(spot.branches, run.branch) == spot.branches.end()) {
        word.why = run.verbatim
                       ? fmt::format("added in a branch only (line {})", state_.line_of(run.origin))
                       : "added in a branch only";
      }
    }
    return word;
  }

  // The value of a variable: an '=' in it means nothing.
  [[nodiscard]] ScriptWord value_word(const ShellRuns& runs, const ShellSpot& spot) const {
    ScriptWord word = word_of(runs, spot, false);
    word.at.place = place_of(runs, 0);
    return word;
  }

  // The stretch of the script that holds the word's bytes from `start` on, where there is one.
  [[nodiscard]] Place place_of(const ShellRuns& runs, std::size_t start) const {
    Place place{.file = std::string(name_), .line = 0, .offset = 0, .length = 0};
    bool whole = true;
    std::size_t done = 0;
    for (const ShellRun& run : runs) {
      const std::size_t from = start > done ? std::min(start - done, run.text.size()) : 0;
      done += run.text.size();
      if (from == run.text.size()) {
        continue;
      }
      const std::size_t origin = run.origin + (run.verbatim ? from : 0);
      if (place.line == 0 && run.origin != kNoOrigin) {
        place.line = state_.line_of(origin);
        place.offset = origin;
      }
      whole = whole && run.verbatim && place.offset + place.length == origin;
      place.length += run.text.size() - from;
    }
    if (!whole) {
      place.length = 0;
    }
    return place;
  }

  static ShellRun said(std::string_view text) {
    ShellRun run;
    run.text = text;
    run.quoted = true;
    return run;
  }

  // The variables and arguments that the user says it is started with.
  void start_as(const ShellInvocation& invocation) {
    for (const auto& [variable, value] : invocation.variables) {
      state_.define(variable, {said(value)});
    }
    if (invocation.arguments_given) {
      put_arguments(invocation.arguments);
    }
  }

  void put_arguments(std::vector<std::string> arguments) {
    std::vector<ShellRuns> all;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      all.push_back({said(arguments[i])});
      state_.define(std::to_string(i + 1), {said(arguments[i])});
    }
    state_.define_list("@", all);
    state_.define_list("*", all);
    state_.define("#", {said(std::to_string(arguments.size()))});
    for (std::size_t i = arguments.size(); i < arguments_.size(); ++i) {
      state_.forget(std::to_string(i + 1));
    }
    arguments_ = std::move(arguments);
  }

  // `shift` moves the arguments; how often a loop or a branch does is not known.
  void shift(const std::string& by, const ShellSpot& spot) {
    if (arguments_.empty()) {
      return;
    }
    const std::int64_t count = by.empty() ? 1 : to_integer(by).value_or(-1);
    if (spot.in_loop || !spot.branches.empty() || count < 0 ||
        count > static_cast<std::int64_t>(arguments_.size())) {
      for (std::size_t i = 0; i < arguments_.size(); ++i) {
        state_.cannot_know(std::to_string(i + 1), "the script shifts its arguments as it goes");
      }
      for (const std::string_view name : {"@", "*", "#"}) {
        state_.cannot_know(name, "the script shifts its arguments as it goes");
      }
      return;
    }
    put_arguments({arguments_.begin() + count, arguments_.end()});
  }

  // Before a loop is read once, what its rounds move is open already.
  void open_loops(const std::vector<ShellCommand>& commands) {
    ShellSpot loop;
    loop.in_loop = true;
    const bool shifts = std::ranges::any_of(commands, [](const ShellCommand& command) {
      return command.in_loop && !command.words.empty() &&
             plain_text(command.words.front()) == "shift";
    });
    if (shifts) {
      shift("", loop);
    }
  }

  // #SBATCH --nodes=4: the words, and the variables that Slurm will set by them.
  void read_batch_lines() {
    for (std::size_t start = 0; start < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', start), text_.size());
      const std::string_view line = text_.substr(start, end - start);
      if (line.starts_with("#SBATCH") && script_.batch.size() < kMaxShellWords) {
        add_batch_words(line, start);
      }
      start = end + 1;
    }
    const auto nodes = option_value(script_.batch, {"--nodes", "-N"});
    const auto tasks = option_value(script_.batch, {"--ntasks-per-node"});
    const auto devices = option_value(script_.batch, {"--gpus-per-node"});
    define({"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}, nodes);
    define({"SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE"}, tasks);
    define({"SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"}, devices);
    define({"SLURM_NTASKS", "SLURM_NPROCS"}, option_value(script_.batch, {"--ntasks", "-n"}));
    const std::int64_t nodes_count = nodes ? to_integer(nodes->at.text).value_or(0) : 0;
    const std::int64_t tasks_count = tasks ? to_integer(tasks->at.text).value_or(0) : 0;
    if (nodes_count > 0 && tasks_count > 0) {
      ShellRun run;
      run.text = std::to_string(saturating_product({nodes_count, tasks_count}));
      state_.define("SLURM_NTASKS", {run});
      state_.define("SLURM_NPROCS", {run});
    }
  }

  void define(std::initializer_list<std::string_view> names,
              const std::optional<ScriptWord>& word) {
    if (!word || !to_integer(word->at.text)) {
      return;
    }
    ShellRun run;
    run.text = word->at.text;
    run.origin = word->at.place.offset;
    run.verbatim = word->at.place.length == run.text.size();
    for (const std::string_view variable : names) {
      state_.define(variable, {run});
    }
  }

  void add_batch_words(std::string_view line, std::size_t start) {
    constexpr std::string_view kBlanks = " \t\r";
    std::size_t at = std::string_view("#SBATCH").size();
    while (true) {
      at = line.find_first_not_of(kBlanks, at);
      if (at == std::string_view::npos || line[at] == '#') {
        return;
      }
      const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
      ShellRun run;
      run.text = line.substr(at, end - at);
      run.origin = start + at;
      run.verbatim = true;
      script_.batch.push_back(word_of({run}, {}, false));
      at = end;
    }
  }

  void list_variable(const std::string& variable, const ShellState::Variable& state) {
    ScriptVariable made{variable, {}, state.exported};
    const Result<ShellState::Value> value = state_.value_of(variable, {});
    if (!value) {
      ScriptWord word;
      word.at.text = "$" + variable;
      word.at.place.file = name_;
      word.at.place.line = state.values.back().line;
      word.why = value.error().what;
      made.values.push_back(std::move(word));
    } else {
      for (const ShellRuns& element : value->elements) {
        made.values.push_back(value_word(element, {}));
      }
    }
    script_.variables.push_back(std::move(made));
  }

  struct Group {
    int first = 0;       // its first branch: the group is being read anew
    bool taken = false;  // for sure
    bool open = false;   // one may have been taken
  };

  std::string_view text_;
  std::string_view name_;
  std::map<int, Truth> truth_;  // of branches; none: not known
  std::map<int, Group> groups_;
  ShellState state_;
  ShellScript script_;
  std::vector<std::string> arguments_;  // that are known
  std::vector<ShellStretch> stretches_;
  std::size_t inner_bytes_ = 0;
};

}  // namespace

Result<ShellScript> read_shell_script(std::string_view text, std::string_view name,
                                      const ShellInvocation& invocation) {
  SEXTANT_CHECK_OK(checked_text(text, 4_MiB, name));
  return Script(text, name).read(invocation);
}

std::optional<ScriptWord> option_value(std::span<const ScriptWord> words,
                                       std::initializer_list<std::string_view> spellings) {
  std::optional<ScriptWord> value;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view text = words[i].at.text;
    for (const std::string_view spelling : spellings) {
      if (!text.starts_with(spelling)) {
        continue;
      }
      const std::string_view rest = text.substr(spelling.size());
      if (rest.empty() && i + 1 < words.size()) {
        value = words[i + 1];
      } else if (rest.starts_with('=')) {
        value = words[i];
        value->at.text = rest.substr(1);
      } else if (!rest.empty() && !spelling.starts_with("--") && rest[0] >= '0' && rest[0] <= '9') {
        value = words[i];
        value->at.text = rest;
        const std::size_t length = value->at.place.length;
        value->at.place.offset += spelling.size();
        value->at.place.length = length == text.size() ? rest.size() : 0;
      }
    }
  }
  return value;
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace sextant::emit
