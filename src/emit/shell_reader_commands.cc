// What single commands of a script do to its variables, arguments and files.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/shell_read_fields.h"
#include "emit/shell_reader.h"

namespace sextant::emit {
namespace {

bool stands_here(const ShellRun& run, const ShellSpot& spot) {
  return run.branch == 0 || std::ranges::find(spot.branches, run.branch) != spot.branches.end();
}

bool is_known_text(const ShellRuns& runs, const ShellSpot& spot) {
  return std::ranges::all_of(
      runs, [&](const ShellRun& run) { return run.why.empty() && stands_here(run, spot); });
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

struct ReadOptions {
  std::vector<std::string> names;
  bool plain = false;  // `read`, no mapfile
  bool array = false;
  bool whole = false;  // not the first line alone
};

ReadOptions read_options(const std::vector<ShellRuns>& fields) {
  ReadOptions options;
  options.plain = text_of(fields[0]) == "read";
  options.array = !options.plain;
  for (std::size_t i = 1; i < fields.size(); ++i) {
    const std::string word = text_of(fields[i]);
    if (word.starts_with('-') && word.size() > 1) {
      options.array = options.array || word.find('a') != std::string::npos;
      options.whole = options.whole || word.find('d') != std::string::npos;
      const bool takes = std::string_view("dpntNiu").find(word.back()) != std::string_view::npos;
      i += takes ? 1 : 0;
    } else if (is_shell_name(word)) {
      options.names.push_back(word);
    }
  }
  return options;
}

}  // namespace

Result<ShellReader::Fields> ShellReader::fields_of(const ShellCommand& command,
                                                   const ShellSpot& spot) {
  Fields made;
  for (const ShellWord& word : command.words) {
    SEXTANT_TRY(std::vector<ShellRuns> parts, state_.fields(word, spot));
    for (ShellRuns& part : parts) {
      made.fields.push_back(std::move(part));
      made.splits.push_back(may_be_several(word));
    }
  }
  return made;
}

// What `break`, `exit` and their like do; nothing for any other command.
std::optional<ShellReader::Ending> ShellReader::ending_of(const std::vector<ShellRuns>& fields) {
  const std::string program = text_of(fields[0]);
  if (!is_one_of(program, {"break", "continue", "return", "exit"})) {
    return std::nullopt;
  }
  if (program == "exit") {  // with an error: to be mended first
    const bool fine = fields.size() < 2 || text_of(fields[1]) == "0";
    return Ending{fine ? Flow::kExit : Flow::kOn};
  }
  return Ending{program == "break"      ? Flow::kBreak
                : program == "continue" ? Flow::kContinue
                                        : Flow::kReturn};
}

// NAME=value by itself, or before a command: then it is that one's environment.
Result<void> ShellReader::set_variables(const ShellCommand& command, Outer& made) {
  for (const ShellAssignment& assignment : command.assignments) {
    if (assignment.local && !locals_.empty()) {
      locals_.back().emplace(assignment.name, state_.variable(assignment.name));
    }
    if (command.words.empty()) {
      SEXTANT_CHECK_OK(state_.assign(assignment, made.spot));
    } else if (assignment.values.size() == 1) {
      SEXTANT_TRY(const ShellRuns runs, state_.joined(assignment.values[0].pieces, made.spot));
      made.environment.push_back({assignment.name, {value_word(runs, made.spot)}, true});
    }
  }
  return {};
}

Result<ShellReader::Ending> ShellReader::run_command(const ShellCommand& command,
                                                     const ShellText& text, const ShellSpot& spot,
                                                     const Outer& outer) {
  Outer made = outer;
  made.spot = spot;
  if (!outer.inner) {
    made.at = sources_.place(state_.origin_of(command.offset), 0);
  }
  SEXTANT_CHECK_OK(set_variables(command, made));
  SEXTANT_TRY(const Fields fields, fields_of(command, spot));
  if (fields.fields.empty()) {
    return Ending{};
  }
  if (const auto ending = ending_of(fields.fields)) {
    return *ending;
  }
  SEXTANT_CHECK_OK(keep_written(command, text, fields.fields, spot));
  SEXTANT_TRY(const bool done, run_builtin(command, text, fields.fields, spot));
  if (done) {
    return Ending{};
  }
  SEXTANT_TRY(const auto inner, run_others(command, fields, made));
  if (!inner) {
    keep_command(std::move(made), fields, spot);
  }
  if (words_ > kMaxShellOutput) {
    return invalid("the script's commands come to too many words", std::string(name_),
                   fmt::format("at most {}", kMaxShellOutput));
  }
  return inner.value_or(Ending{});
}

// A function, a file that is read, another text or script; nothing: the command is none of these.
Result<std::optional<ShellReader::Ending>> ShellReader::run_others(const ShellCommand& command,
                                                                   const Fields& fields,
                                                                   const Outer& made) {
  const std::string program = text_of(fields.fields[0]);
  if (const auto function = functions_.find(program); function != functions_.end()) {
    SEXTANT_TRY(
        const Ending ending,
        call_function(function->second, {fields.fields.begin() + 1, fields.fields.end()}, made));
    return ending;
  }
  if (program == "source" || program == ".") {
    SEXTANT_TRY(const auto ending, source_file(fields, made));
    if (ending) {
      return ending;
    }
    state_.note_source(command.offset);
  }
  return run_inner(fields, made);
}

void ShellReader::keep_command(Outer made, const Fields& fields, const ShellSpot& spot) {
  for (std::size_t i = 0; i < fields.fields.size(); ++i) {
    made.words.push_back(word_of(fields.fields[i], spot, fields.splits[i]));
  }
  words_ += made.words.size() + made.environment.size();
  script_.commands.push_back({.environment = std::move(made.environment),
                              .words = std::move(made.words),
                              .file = made.at.file,
                              .line = made.at.line,
                              .may_run = !spot.branches.empty(),
                              .uncalled = uncalled_});
}

// Commands that only change what is known. True: nothing else is to be done with this one.
Result<bool> ShellReader::run_builtin(const ShellCommand& command, const ShellText& text,
                                      const std::vector<ShellRuns>& fields, const ShellSpot& spot) {
  const std::string program = text_of(fields[0]);
  if (program == "shift") {
    shift(fields.size() > 1 ? text_of(fields[1]) : std::string(), spot);
  } else if (program == "set" && fields.size() > 1 && text_of(fields[1]) == "--") {
    const std::vector<ShellRuns> arguments(fields.begin() + 2, fields.end());
    const bool known = std::ranges::all_of(
        arguments, [&](const ShellRuns& runs) { return is_known_text(runs, spot); });
    if (known && spot.branches.empty() && !spot.in_loop) {
      put_arguments(arguments);
    } else {
      forget_arguments("the script sets its arguments as it goes");
    }
  } else if (program == "unset") {
    for (std::size_t i = 1; i < fields.size(); ++i) {
      const std::string name = text_of(fields[i]);
      if (spot.branches.empty() && is_shell_name(name)) {
        state_.forget(name);
      } else if (is_shell_name(name) && state_.variable(name)) {
        state_.cannot_know(name, fmt::format("{} is unset in a branch", name));
      }
    }
  } else if (is_one_of(program, {"read", "mapfile", "readarray"})) {
    SEXTANT_CHECK_OK(read_variables(command, text, fields, spot));
  } else {
    return false;
  }
  return true;
}

// The text behind <<EOF or <<< of a command, where it has one.
Result<std::optional<ShellRuns>> ShellReader::input_of(const ShellCommand& command,
                                                       const ShellText& text,
                                                       const ShellSpot& spot) {
  for (const ShellRedirection& one : command.redirections) {
    if (one.kind == ShellRedirection::Kind::kHereDocument) {
      SEXTANT_TRY(ShellRuns runs, state_.joined(text.bodies[one.body], spot));
      return runs;
    }
    if (one.kind == ShellRedirection::Kind::kHereString) {
      SEXTANT_TRY(ShellRuns runs, state_.joined(one.word.pieces, spot));
      return runs;
    }
  }
  return std::nullopt;
}

// read -r A B <<< "…", read -d '' X <<EOF: what is not known is a user's, or another program's.
Result<void> ShellReader::read_variables(const ShellCommand& command, const ShellText& text,
                                         const std::vector<ShellRuns>& fields,
                                         const ShellSpot& spot) {
  const ReadOptions options = read_options(fields);
  SEXTANT_TRY(const auto input, input_of(command, text, spot));
  if (options.whole && options.names.size() == 1 && input) {  // what is not known may be in it
    state_.set(options.names.front(), {*input}, false, spot);
    return {};
  }
  if (!options.plain || !input || !is_known_text(*input, spot)) {
    for (const std::string& name : options.names) {
      state_.cannot_know(name, fmt::format("{} is read when the script runs", name));
    }
    return {};
  }
  std::string separators = " \t\n";
  for (const ShellAssignment& assignment : command.assignments) {
    if (assignment.name == "IFS" && assignment.values.size() == 1) {
      SEXTANT_TRY(const ShellRuns runs, state_.joined(assignment.values[0].pieces, spot));
      separators = text_of(runs);
    }
  }
  std::string line = text_of(*input);
  line = options.whole ? line : line.substr(0, line.find('\n'));
  const std::size_t most =
      options.array ? line.size() + 1 : std::max<std::size_t>(options.names.size(), 1);
  give_read(options.names, options.array, read_fields(line, separators, most), spot);
  return {};
}

void ShellReader::give_read(const std::vector<std::string>& names, bool array,
                            const std::vector<std::string>& values, const ShellSpot& spot) {
  const auto said = [](std::string value) {
    return ShellRuns{{.text = std::move(value), .quoted = true}};
  };
  if (array && !names.empty()) {
    std::vector<ShellRuns> elements;
    for (const std::string& value : values) {
      elements.push_back(said(value));
    }
    state_.set(names.back(), std::move(elements), true, spot);
    return;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    state_.set(names[i], {said(i < values.size() ? values[i] : std::string())}, false, spot);
  }
}

// cat <<EOF > file, echo "…" > file, tee file <<EOF.
Result<void> ShellReader::keep_written(const ShellCommand& command, const ShellText& text,
                                       const std::vector<ShellRuns>& fields,
                                       const ShellSpot& spot) {
  const bool tee = text_of(fields[0]) == "tee";
  std::string path;
  bool adds = false;
  for (const ShellRedirection& one : command.redirections) {
    if (one.kind == ShellRedirection::Kind::kWrite || one.kind == ShellRedirection::Kind::kAppend) {
      SEXTANT_TRY(const ShellRuns runs, state_.joined(one.word.pieces, spot));
      path = text_of(runs);
      adds = one.kind == ShellRedirection::Kind::kAppend;
    }
  }
  if (tee && path.empty()) {
    for (std::size_t i = 1; i < fields.size(); ++i) {
      const std::string word = text_of(fields[i]);
      adds = adds || word == "-a";
      path = word.starts_with('-') ? path : word;
    }
  }
  if (path.empty() || path == "/dev/null" || path.starts_with("/dev/std")) {
    return {};
  }
  SEXTANT_TRY(std::optional<ShellRuns> printed,
              tee ? input_of(command, text, spot) : printed_by(command, text, fields, spot));
  const bool open = !spot.branches.empty();
  Written& file = written_[path];
  const bool again = !file.text.empty() || !file.known;
  const bool unsure = again && (open != file.open || open) && !adds;
  if (!printed || unsure || (open && adds)) {
    file = {{}, false, open};
    return {};
  }
  if (!adds) {
    file = {};
  }
  file.open = open;
  for (ShellRun& run : *printed) {
    file.text.push_back(std::move(run));
  }
  inner_bytes_ += text_of(file.text).size();
  return {};
}

// The arguments that the user says it is started with.
void ShellReader::start_as() {
  if (!invocation_.arguments_given) {
    return;
  }
  std::vector<ShellRuns> arguments;
  for (const std::string& argument : invocation_.arguments) {
    arguments.push_back({{.text = argument, .quoted = true}});
  }
  put_arguments(std::move(arguments));
}

void ShellReader::put_arguments(std::vector<ShellRuns> arguments) {
  for (std::size_t i = 0; i < std::max(arguments.size(), arguments_.size()); ++i) {
    if (i < arguments.size()) {
      state_.put_back(std::to_string(i + 1), ShellState::Variable{{{{arguments[i]}}}, false, {}});
    } else {
      state_.forget(std::to_string(i + 1));
    }
  }
  for (const std::string_view name : {"@", "*"}) {
    state_.put_back(name, ShellState::Variable{{{arguments, true}}, false, {}});
  }
  state_.put_back(
      "#", ShellState::Variable{
               {{{{{.text = std::to_string(arguments.size()), .quoted = true}}}}}, false, {}});
  arguments_ = std::move(arguments);
}

void ShellReader::forget_arguments(std::string_view why) {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    state_.cannot_know(std::to_string(i + 1), std::string(why));
  }
  if (!arguments_.empty()) {
    for (const std::string_view name : {"@", "*", "#"}) {
      state_.cannot_know(name, std::string(why));
    }
  }
}

// `shift` moves the arguments; how often a loop or a branch does is not known.
void ShellReader::shift(const std::string& by, const ShellSpot& spot) {
  if (arguments_.empty()) {
    return;
  }
  const std::int64_t count = by.empty() ? 1 : to_integer(by).value_or(-1);
  if (spot.in_loop || !spot.branches.empty() || count < 0) {
    forget_arguments("the script shifts its arguments as it goes");
    return;
  }
  if (count > static_cast<std::int64_t>(arguments_.size())) {
    return;  // bash leaves them as they are
  }
  put_arguments({arguments_.begin() + count, arguments_.end()});
}

}  // namespace sextant::emit
