#include "emit/shell_reader.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::emit {
namespace {

// Every run of them is known here.
bool are_known(const std::vector<ShellRuns>& fields, const ShellSpot& spot) {
  return std::ranges::all_of(fields, [&](const ShellRuns& runs) {
    return std::ranges::all_of(runs, [&](const ShellRun& run) {
      return run.why.empty() && (run.branch == 0 || std::ranges::find(spot.branches, run.branch) !=
                                                        spot.branches.end());
    });
  });
}

// "{1..4}": the numbers between, where they are few.
std::optional<std::vector<std::string>> brace_numbers(std::string_view word) {
  const std::size_t dots = word.find("..");
  if (!word.starts_with('{') || !word.ends_with('}') || dots == std::string_view::npos) {
    return std::nullopt;
  }
  const auto first = to_integer(word.substr(1, dots - 1));
  const auto last = to_integer(word.substr(dots + 2, word.size() - dots - 3));
  if (!first || !last || *last < *first || *first < 0 ||
      *last - *first >= static_cast<std::int64_t>(kMaxShellRounds)) {
    return std::nullopt;
  }
  std::vector<std::string> numbers;
  for (std::int64_t number = *first; number <= *last; ++number) {
    numbers.push_back(std::to_string(number));
  }
  return numbers;
}

// An unquoted word that names files of the folder, or is a list in braces.
bool is_pattern(const ShellRuns& runs) {
  return std::ranges::any_of(runs, [](const ShellRun& run) {
    return !run.quoted && run.text.find_first_of("*?{") != std::string::npos;
  });
}

}  // namespace

ShellReader::ShellReader(std::string_view text, std::string_view name,
                         const ShellInvocation& invocation)
    : text_(text), name_(name), invocation_(invocation), state_(sources_, name) {
  state_.ask_output(
      [this](const ShellPiece& piece, const ShellSpot& spot) { return output_of(piece, spot); });
}

Result<ShellScript> ShellReader::read() {
  const ShellSources::Source& source = sources_.add(text_, name_);
  SEXTANT_TRY(const Parsed* parsed,
              parsed_text(source.text, {{0, source.text.size(), 0, true, 0, {}}}, name_));
  start_as();
  read_batch_lines(source.text, source.base);
  define_batch();
  for (const auto& [variable, value] : invocation_.variables) {  // over what Slurm would set
    state_.define(variable, {{.text = value, .quoted = true}});
  }
  SEXTANT_CHECK_OK(run_text(*parsed, {}));
  for (const auto& [variable, state] : state_.variables()) {
    if (!state.values.empty()) {
      list_variable(variable, state);
    }
  }
  SEXTANT_CHECK_OK(run_uncalled());
  for (const auto& [name, written] : written_) {
    ScriptFile file{name, {}, written.known};
    for (const ShellRun& run : written.text) {
      file.parts.push_back(word_of({run}, {}, false));
    }
    script_.written.push_back(std::move(file));
  }
  return std::move(script_);
}

Result<ShellReader::Ending> ShellReader::run_text(const Parsed& parsed, const Outer& outer) {
  const ShellState::Reading before = state_.read_from({parsed.text, parsed.stretches});
  Frame frame(parsed);
  SEXTANT_TRY(const Ending ending, run(frame, 0, parsed.shell.commands.size(), outer));
  state_.read_from(before);
  return ending;
}

std::optional<ShellSpot> ShellReader::spot_of(Frame& frame, const ShellCommand& command,
                                              const ShellSpot& around) {
  ShellSpot spot = around;
  for (const int branch : command.branches) {
    int& number = frame.numbers[static_cast<std::size_t>(branch)];
    if (number == 0) {
      number = fresh_branch();
    }
    const auto found = truth_.find(number);
    const Truth truth = found == truth_.end() ? Truth::kUnknown : found->second;
    if (truth == Truth::kNo) {
      return std::nullopt;
    }
    if (truth == Truth::kUnknown) {
      spot.branches.push_back(number);
    }
  }
  return spot;
}

Result<ShellReader::Ending> ShellReader::run(Frame& frame, std::size_t first, std::size_t last,
                                             const Outer& outer) {
  ShellSpot around = outer.spot;
  Ending ending;
  for (std::size_t i = first; i < last; ++i) {
    const ShellCommand& command = frame.text->shell.commands[i];
    if (++steps_ > kMaxShellSteps) {
      return invalid("the script's loops and functions come to too many commands",
                     fmt::format("{}:{}", name_, state_.line_of(state_.origin_of(command.offset))),
                     fmt::format("at most {}", kMaxShellSteps));
    }
    const std::optional<ShellSpot> spot = spot_of(frame, command, around);
    const std::size_t next =
        command.block.kind == ShellBlock::Kind::kNone ? i : std::max(command.block.end, i + 1) - 1;
    if (spot) {
      SEXTANT_TRY(const Ending one, run_one(frame, i, {*spot, around}, outer));
      const bool certain = spot->branches.size() == around.branches.size();
      if (one.flow != Flow::kOn && certain) {
        return Ending{one.flow, ending.maybe};
      }
      const Flow maybe = one.flow != Flow::kOn ? one.flow : one.maybe;
      if (maybe != Flow::kOn && maybe != Flow::kExit) {  // the rest may not run
        ending.maybe = maybe;
        around.branches.push_back(fresh_branch());
      }
    }
    i = next;
  }
  return ending;
}

Result<ShellReader::Ending> ShellReader::run_one(Frame& frame, std::size_t at, const Spots& spots,
                                                 const Outer& outer) {
  const ShellCommand& command = frame.text->shell.commands[at];
  if (command.block.kind == ShellBlock::Kind::kFunction) {
    functions_[command.block.name] = {frame.text, command.block.body, command.block.end};
    return Ending{};
  }
  if (command.block.kind != ShellBlock::Kind::kNone) {
    return run_loop(frame, at, spots.around, outer);
  }
  if (command.begins.number != 0) {
    SEXTANT_CHECK_OK(begin_branch(frame, command.begins, spots.here));
    return Ending{};
  }
  return run_command(command, frame.text->shell, spots.here, outer);
}

// Of an if or a case one branch is taken at most; what follows one that may be taken is open too.
Result<void> ShellReader::begin_branch(Frame& frame, const ShellBranch& branch,
                                       const ShellSpot& spot) {
  SEXTANT_TRY(Truth truth, branch_is_taken(branch, spot, state_));
  if (branch.group != 0) {
    Group& group = frame.groups[static_cast<std::size_t>(branch.group)];
    if (group.first == 0 || branch.number <= group.first) {
      group = {branch.number, false, false};
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
  const int number = fresh_branch();
  frame.numbers[static_cast<std::size_t>(branch.number)] = number;
  truth_[number] = truth;
  return {};
}

Result<ShellReader::Ending> ShellReader::run_loop(Frame& frame, std::size_t at,
                                                  const ShellSpot& around, const Outer& outer) {
  Outer inside = outer;
  inside.spot = around;
  const ShellBlock& block = frame.text->shell.commands[at].block;
  if (block.kind == ShellBlock::Kind::kFor) {
    return run_for(frame, at, inside);
  }
  if (block.kind == ShellBlock::Kind::kOther) {
    return run_open(frame, at, std::move(inside));
  }
  return run_while(frame, at, inside);
}

// Where the head of a loop stands.
ShellSpot ShellReader::head_spot(Frame& frame, std::size_t at, const Outer& outer) {
  return spot_of(frame, frame.text->shell.commands[at], outer.spot).value_or(outer.spot);
}

// The values that a `for` goes through, where all are known.
Result<std::optional<std::vector<ShellRuns>>> ShellReader::loop_values(const ShellBlock& block,
                                                                       const ShellSpot& spot) {
  std::vector<ShellRuns> values;
  for (const ShellWord& word : block.list) {
    const std::string_view plain = plain_text(word);
    if (const auto numbers = brace_numbers(plain)) {
      for (const std::string& number : *numbers) {
        values.push_back({{.text = number}});
      }
      continue;
    }
    if (word.pieces.size() == 1 && word.pieces[0].text == "@" && state_.is_unset("@") &&
        state_.is_unset("1")) {
      continue;  // started without arguments, as far as is known
    }
    SEXTANT_TRY(std::vector<ShellRuns> fields, state_.fields(word, spot));
    for (ShellRuns& field : fields) {
      if (is_pattern(field)) {
        return std::nullopt;
      }
      values.push_back(std::move(field));
    }
  }
  if (values.size() > kMaxShellRounds || !are_known(values, spot) || !has_time()) {
    return std::nullopt;
  }
  return values;
}

// One round of the body. A break that may be taken leaves the rounds after it open.
Result<ShellReader::Ending> ShellReader::run_round(Frame& frame, const ShellBlock& block,
                                                   Outer& outer) {
  const ShellCommand& begins = frame.text->shell.commands[block.body - 1];
  if (begins.begins.number != 0) {
    const int number = fresh_branch();
    frame.numbers[static_cast<std::size_t>(begins.begins.number)] = number;
    truth_[number] = Truth::kYes;
  }
  SEXTANT_TRY(Ending ending, run(frame, block.body, block.end, outer));
  if (ending.maybe == Flow::kBreak || ending.maybe == Flow::kReturn) {
    outer.spot.branches.push_back(fresh_branch());
  }
  return ending;
}

Result<ShellReader::Ending> ShellReader::run_for(Frame& frame, std::size_t at, const Outer& outer) {
  const ShellBlock& block = frame.text->shell.commands[at].block;
  SEXTANT_TRY(auto values, loop_values(block, head_spot(frame, at, outer)));
  if (!values) {
    state_.cannot_know(
        block.name,
        fmt::format("{} takes several values in a loop (line {})", block.name,
                    state_.line_text(state_.origin_of(frame.text->shell.commands[at].offset))));
    return run_open(frame, at, outer);
  }
  Outer inside = outer;
  Ending all;
  for (ShellRuns& value : *values) {
    state_.set(block.name, {std::move(value)}, false, head_spot(frame, at, inside));
    SEXTANT_TRY(const Ending one, run_round(frame, block, inside));
    if (one.flow == Flow::kBreak) {
      break;
    }
    if (one.flow == Flow::kReturn || one.flow == Flow::kExit) {
      return one;
    }
    all.maybe = one.maybe == Flow::kReturn ? one.maybe : all.maybe;
    if (!has_time()) {
      return run_open(frame, at, std::move(inside));
    }
  }
  return all;
}

Result<ShellReader::Ending> ShellReader::run_while(Frame& frame, std::size_t at,
                                                   const Outer& outer) {
  const ShellBlock& block = frame.text->shell.commands[at].block;
  if (block.body == 0 || block.body > block.end || block.body < at + 2) {
    return Ending{};
  }
  const ShellBranch& begins = frame.text->shell.commands[block.body - 1].begins;
  Outer inside = outer;
  for (std::size_t round = 0; round <= kMaxShellRounds && has_time(); ++round) {
    SEXTANT_CHECK_OK(run(frame, at + 1, block.body - 1, inside));
    SEXTANT_TRY(const Truth truth, branch_is_taken(begins, head_spot(frame, at, inside), state_));
    if (truth == Truth::kNo) {
      return Ending{};
    }
    if (truth == Truth::kUnknown || round == kMaxShellRounds) {
      break;
    }
    SEXTANT_TRY(const Ending one, run_round(frame, block, inside));
    if (one.flow == Flow::kBreak) {
      return Ending{};
    }
    if (one.flow == Flow::kReturn || one.flow == Flow::kExit) {
      return one;
    }
  }
  return run_open(frame, at, std::move(inside));
}

// Once, as what may run any number of times.
Result<ShellReader::Ending> ShellReader::run_open(Frame& frame, std::size_t at, Outer outer) {
  const std::vector<ShellCommand>& commands = frame.text->shell.commands;
  const ShellBlock& block = commands[at].block;
  if (block.body == 0 || block.body > block.end) {
    return Ending{};
  }
  const bool shifts = std::any_of(
      commands.begin() + static_cast<std::ptrdiff_t>(at),
      commands.begin() + static_cast<std::ptrdiff_t>(block.end), [](const ShellCommand& command) {
        return !command.words.empty() && plain_text(command.words.front()) == "shift";
      });
  if (shifts) {
    forget_arguments("the script shifts its arguments as it goes");
  }
  outer.spot.in_loop = true;
  if (block.kind != ShellBlock::Kind::kFor) {
    SEXTANT_CHECK_OK(run(frame, at + 1, std::max(block.body, at + 2) - 1, outer));
  }
  const ShellBranch& begins = commands[block.body - 1].begins;
  if (begins.number != 0) {
    frame.numbers[static_cast<std::size_t>(begins.number)] = fresh_branch();
  }
  SEXTANT_TRY(const Ending one, run(frame, block.body, block.end, outer));
  const bool returns = one.flow == Flow::kReturn || one.maybe == Flow::kReturn;
  return Ending{Flow::kOn, returns ? Flow::kReturn : Flow::kOn};
}

Result<ShellReader::Ending> ShellReader::call_function(Function& function,
                                                       std::vector<ShellRuns> arguments,
                                                       const Outer& outer) {
  function.called = true;
  if (outer.depth >= kMaxShellCalls || !has_time()) {
    return Ending{};
  }
  std::map<std::string, std::optional<ShellState::Variable>, std::less<>> before;
  for (const std::string_view name : {"@", "*", "#"}) {
    before.emplace(name, state_.variable(name));
  }
  const std::size_t most = std::max(arguments.size(), arguments_.size());
  for (std::size_t i = 1; i <= most; ++i) {
    before.emplace(std::to_string(i), state_.variable(std::to_string(i)));
  }
  const std::vector<ShellRuns> arguments_before = arguments_;
  put_arguments(std::move(arguments));
  Outer inside = outer;
  ++inside.depth;
  locals_.emplace_back();
  const ShellState::Reading reading =
      state_.read_from({function.text->text, function.text->stretches});
  Frame frame(*function.text);
  // Branches around the definition are no business of the call.
  for (const int branch : function.body > 0
                              ? function.text->shell.commands[function.body - 1].branches
                              : std::vector<int>{}) {
    const int number = fresh_branch();
    frame.numbers[static_cast<std::size_t>(branch)] = number;
    truth_[number] = Truth::kYes;
  }
  SEXTANT_TRY(const Ending ending, run(frame, function.body, function.end, inside));
  state_.read_from(reading);
  for (auto& [name, variable] : locals_.back()) {
    state_.put_back(name, std::move(variable));
  }
  locals_.pop_back();
  for (auto& [name, variable] : before) {
    state_.put_back(name, std::move(variable));
  }
  arguments_ = arguments_before;
  return Ending{ending.flow == Flow::kExit ? Flow::kExit : Flow::kOn, Flow::kOn};
}

// A function that nothing calls as far as is seen (a trap, another script): its commands may run.
Result<void> ShellReader::run_uncalled() {
  uncalled_ = true;
  std::vector<std::string> names;
  for (const auto& [name, function] : functions_) {
    names.push_back(name);
  }
  for (const std::string& name : names) {
    Function& function = functions_[name];
    if (!function.called) {
      Outer outer;
      outer.spot.branches.push_back(fresh_branch());
      SEXTANT_CHECK_OK(call_function(function, {}, outer));
      forget_arguments("the function is called nowhere");
    }
  }
  return {};
}

}  // namespace sextant::emit
