#include "emit/shell_state.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/shell_arithmetic.h"

namespace sextant::emit {
namespace {

constexpr std::size_t kMaxCandidates = 16;

bool stands_in(int branch, const ShellSpot& spot) {
  return branch == 0 || std::ranges::find(spot.branches, branch) != spot.branches.end();
}

int innermost(const ShellSpot& spot) {
  return spot.branches.empty() ? 0 : spot.branches.back();
}

std::string text_of(const ShellState::Value& value) {
  std::string text;
  for (const ShellRuns& element : value.elements) {
    text += emit::text_of(element) + '\n';
  }
  return text;
}

// Short elements cost more than their text.
std::size_t size_of(const ShellState::Value& value) {
  constexpr std::size_t kRunBytes = 16;
  std::size_t bytes = 0;
  for (const ShellRuns& element : value.elements) {
    bytes += kRunBytes;
    for (const ShellRun& run : element) {
      bytes += run.text.size() + kRunBytes;
    }
  }
  return bytes;
}

bool mentions(std::span<const ShellPiece> pieces, std::string_view name) {
  return std::ranges::any_of(pieces, [&](const ShellPiece& piece) {
    return (piece.kind == ShellPiece::Kind::kVariable && piece.text == name) ||
           (piece.kind == ShellPiece::Kind::kArithmetic &&
            piece.text.find(name) != std::string::npos) ||
           mentions(piece.operand, name);
  });
}

// A branch that adds to what was: what is written there is there only if the branch is taken.
void mark_addition(ShellRuns& runs, const ShellWord& word, int branch) {
  for (ShellRun& run : runs) {
    const bool written_here =
        run.verbatim && run.origin >= word.offset && run.origin < word.offset + word.length;
    run.branch = written_here && run.branch == 0 ? branch : run.branch;
  }
}

// The operand's place in ${X:-operand} and its like: it is used, nothing is, or the value stands.
enum class OperandUse { kOperand, kNothing, kValue };

OperandUse operand_use(std::string_view sign, bool missing, bool known) {
  if (sign.ends_with('-') || sign.ends_with('=')) {
    return missing ? OperandUse::kOperand : OperandUse::kValue;
  }
  if (sign.ends_with('+') && missing) {
    return OperandUse::kNothing;
  }
  return sign.ends_with('+') && known ? OperandUse::kOperand : OperandUse::kValue;
}

const std::string* reason_in(const ShellRuns& runs) {
  const auto found =
      std::ranges::find_if(runs, [](const ShellRun& run) { return !run.why.empty(); });
  return found == runs.end() ? nullptr : &found->why;
}

}  // namespace

std::string text_of(const ShellRuns& runs) {
  std::string text;
  for (const ShellRun& run : runs) {
    text += run.text;
  }
  return text;
}

// Fields being filled. Without splitting there is one.
struct ShellState::Fields {
  bool splits = true;
  std::vector<ShellRuns> done{};
  ShellRuns open{};
  bool started = false;

  void put(ShellRun run) {
    started = true;
    if (!run.text.empty()) {
      open.push_back(std::move(run));
    }
  }
  void end_field() {
    if (started) {
      done.push_back(std::exchange(open, {}));
      started = false;
    }
  }
  // An unquoted run out of a variable: blanks end fields.
  void put_split(const ShellRun& run) {
    constexpr std::string_view kBlanks = " \t\r\n";
    for (std::size_t at = 0; at < run.text.size();) {
      const std::size_t start = std::min(run.text.find_first_not_of(kBlanks, at), run.text.size());
      if (start > at) {
        end_field();
      }
      const std::size_t end = std::min(run.text.find_first_of(kBlanks, start), run.text.size());
      if (end > start) {
        ShellRun part = run;
        part.text = run.text.substr(start, end - start);
        part.origin = run.verbatim ? run.origin + start : run.origin;
        put(std::move(part));
      }
      at = end;
    }
  }
};

ShellState::ShellState(std::string_view script, std::string_view name)
    : script_(script), text_(script), name_(name) {
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < script.size(); ++i) {
    if (script[i] == '\n') {
      line_starts_.push_back(i + 1);
    }
  }
}

std::int64_t ShellState::line_of(std::size_t origin) const {
  return std::ranges::upper_bound(line_starts_, origin) - line_starts_.begin();
}

void ShellState::read_from(std::string_view text, std::vector<ShellStretch> stretches) {
  text_ = stretches.empty() ? script_ : text;
  stretches_ = std::move(stretches);
}

void ShellState::note_source(std::size_t offset) {
  if (source_line_ == 0 && stretches_.empty()) {
    source_line_ = line_of(offset);
  }
}

Result<void> ShellState::within_budget(std::size_t offset) const {
  if (spent_ > kMaxShellExpansion) {
    return invalid("the script's variables come to too much text",
                   fmt::format("{}:{}", name_, stretches_.empty() ? line_of(offset) : 1),
                   fmt::format("at most {} bytes", kMaxShellExpansion));
  }
  return {};
}

// Text of the words being read, with its origins in the script.
void ShellState::put_text(const ShellPiece& piece, Fields& fields) const {
  ShellRun run;
  run.text = piece.text;
  run.quoted = piece.quoted;
  run.verbatim = piece.length == piece.text.size();
  run.origin = piece.offset;
  if (stretches_.empty() || !run.verbatim) {
    run.verbatim = run.verbatim && stretches_.empty();
    run.origin = stretches_.empty() ? piece.offset : kNoOrigin;
    fields.put(std::move(run));
    return;
  }
  auto stretch = std::ranges::upper_bound(stretches_, piece.offset, {}, &ShellStretch::position);
  std::size_t done = 0;
  fields.started = true;
  for (--stretch; stretch != stretches_.end() && done < piece.text.size(); ++stretch) {
    const std::size_t into = piece.offset + done - stretch->position;
    const std::size_t part = std::min(stretch->length - into, piece.text.size() - done);
    run.text = piece.text.substr(done, part);
    run.origin = stretch->verbatim ? stretch->origin + into : stretch->origin;
    run.verbatim = stretch->verbatim;
    fields.put(run);
    done += part;
  }
}

ShellRun ShellState::unknown(const ShellPiece& piece, std::string why) const {
  ShellRun run;
  run.text = text_.substr(piece.offset, piece.length);
  run.quoted = piece.quoted;
  run.origin = stretches_.empty() ? piece.offset : kNoOrigin;
  run.why = std::move(why);
  return run;
}

std::string ShellState::why_unset(std::string_view name) const {
  if (name == "@" || name == "*" || name == "#") {
    return "the script's arguments are not known";
  }
  if (to_integer(name)) {
    return fmt::format("argument {} of the script is not known", name);
  }
  if (!is_shell_name(name)) {
    return fmt::format("${} is known only when the script runs", name);
  }
  for (const std::string_view runtime :
       {"RANDOM", "HOSTNAME", "SECONDS", "PWD", "OLDPWD", "HOME", "USER", "UID", "BASH_SOURCE",
        "PATH", "EPOCHSECONDS", "PPID"}) {
    if (name == runtime) {
      return fmt::format("{} is known only when the script runs", name);
    }
  }
  if (name.starts_with("SLURM_")) {
    return fmt::format("{} is given by Slurm when the job starts", name);
  }
  return source_line_ == 0
             ? fmt::format("{} is set nowhere in the script", name)
             : fmt::format("{} is set nowhere in the script (line {} reads another file)", name,
                           source_line_);
}

// Every look at a variable is paid for, in bytes, so that no script costs more than its budget.
Result<ShellState::Value> ShellState::value_of(std::string_view name, const ShellSpot& spot) {
  ++spent_;

  const auto found = variables_.find(name);
  if (found == variables_.end() || (found->second.values.empty() && found->second.why.empty())) {
    return not_found(why_unset(name));
  }
  if (!found->second.why.empty()) {
    return invalid(found->second.why);
  }
  const std::vector<Value>& values = found->second.values;
  std::size_t first = values.size() - 1;
  while (first > 0 && !stands_in(values[first].branch, spot)) {
    --first;
  }
  const Value& last = values.back();
  for (std::size_t i = first; i < values.size(); ++i) {
    spent_ += size_of(values[i]);
  }
  if (spent_ > kMaxShellExpansion) {
    return invalid("the script's variables come to too much text");
  }
  for (std::size_t i = first; i + 1 < values.size(); ++i) {
    if (text_of(values[i]) != text_of(last)) {
      return invalid(fmt::format("{} is set differently in branches: lines {} and {}", name,
                                 values[i].line, last.line));
    }
  }
  Value value = last;
  if (first + 1 < values.size()) {
    for (ShellRuns& element : value.elements) {
      for (ShellRun& run : element) {
        run.verbatim = false;  // several literals say the same: changing one is not enough
      }
    }
  }
  return value;
}

// A value in the place of `$NAME`: "${A[@]}" stays apart, everything else is one text.
void ShellState::put_value(const ShellPiece& piece, const Value& value, Fields& fields) {
  const bool all = piece.index == "@" || piece.index == "*";
  std::size_t first = 0;
  std::size_t last = value.elements.size();
  if (!all) {
    first = piece.index.empty() ? 0 : static_cast<std::size_t>(to_integer(piece.index).value_or(0));
    last = std::min(first + 1, last);
  }
  for (std::size_t i = first; i < last; ++i) {
    if (i > first && fields.splits) {
      fields.end_field();
    } else if (i > first) {
      ShellRun space;
      space.text = " ";
      fields.put(std::move(space));
    }
    fields.started = fields.started || piece.quoted;
    for (ShellRun run : value.elements[i]) {
      run.quoted = piece.quoted;
      if (!piece.quoted && fields.splits && run.why.empty()) {
        fields.put_split(run);
      } else {
        fields.put(std::move(run));
      }
    }
  }
}

Result<void> ShellState::expand_operand(const ShellPiece& piece, const ShellSpot& spot,
                                        Fields& fields) {
  SEXTANT_TRY(ShellRuns runs, joined(piece.operand, spot));
  ShellPiece whole = piece;
  whole.index.clear();
  Value value;
  if (piece.operation.ends_with('=') && is_shell_name(piece.text)) {
    value.elements.push_back(runs);
    value.branch = innermost(spot);
    value.line = line_of(piece.offset);
    remember(piece.text, value);
  } else {
    value.elements.push_back(std::move(runs));
  }
  put_value(whole, value, fields);
  return {};
}

Result<void> ShellState::expand_variable(const ShellPiece& piece, const ShellSpot& spot,
                                         Fields& fields) {
  const bool all = piece.index == "@" || piece.index == "*";
  const bool odd_index = !all && !piece.index.empty() && to_integer(piece.index).value_or(-1) < 0;
  if (piece.operation == "other" || odd_index) {
    fields.put(unknown(piece, fmt::format("this form of ${{{}}} is not worked out", piece.text)));
    return {};
  }
  const Result<Value> value = value_of(piece.text, spot);
  const bool unset = !value && value.error().kind == ErrorKind::kNotFound;
  const bool empty = value && (value->elements.empty() || value->elements[0].empty());
  const bool missing = unset || (empty && piece.operation.starts_with(':'));
  switch (operand_use(piece.operation, missing, value.has_value())) {
    case OperandUse::kOperand:
      return expand_operand(piece, spot, fields);
    case OperandUse::kNothing:
      return {};
    case OperandUse::kValue:
      break;
  }
  if (!value) {
    fields.put(unknown(piece, value.error().what));
  } else if (piece.counts) {
    ShellRun run;
    run.text = std::to_string(all     ? value->elements.size()
                              : empty ? 0
                                      : emit::text_of(value->elements[0]).size());
    run.quoted = piece.quoted;
    fields.put(std::move(run));
  } else {
    put_value(piece, *value, fields);
  }
  return {};
}

Result<void> ShellState::expand_arithmetic(const ShellPiece& piece, const ShellSpot& spot,
                                           Fields& fields) {
  SEXTANT_TRY(const ShellRuns runs, joined(piece.operand, spot));
  if (const std::string* why = reason_in(runs)) {
    fields.put(unknown(piece, *why));
    return {};
  }
  const auto number_of = [&](std::string_view name) -> Result<std::int64_t> {
    SEXTANT_TRY(const Value value, value_of(name, spot));
    if (value.elements.empty()) {
      return 0;
    }
    if (const std::string* why = reason_in(value.elements[0])) {
      return invalid(*why);
    }
    const std::string text = emit::text_of(value.elements[0]);
    const auto number = to_integer(trimmed(text));
    if (!number) {
      return invalid(fmt::format("{} is '{}', no whole number", name, printable(text, 24)));
    }
    return *number;
  };
  const Result<std::int64_t> value = arithmetic(emit::text_of(runs), number_of);
  if (!value) {
    fields.put(unknown(piece, value.error().what));
    return {};
  }
  ShellRun run;
  run.text = std::to_string(*value);
  run.quoted = piece.quoted;
  run.origin = stretches_.empty() ? piece.offset : kNoOrigin;
  fields.put(std::move(run));
  return {};
}

Result<void> ShellState::expand_piece(const ShellPiece& piece, const ShellSpot& spot,
                                      Fields& fields) {
  SEXTANT_CHECK_OK(within_budget(piece.offset));
  switch (piece.kind) {
    case ShellPiece::Kind::kText:
      put_text(piece, fields);
      return {};
    case ShellPiece::Kind::kVariable:
      return expand_variable(piece, spot, fields);
    case ShellPiece::Kind::kArithmetic:
      return expand_arithmetic(piece, spot, fields);
    case ShellPiece::Kind::kCommand:
      fields.put(unknown(piece, fmt::format("the output of `{}` is not known: nothing is run",
                                            printable(trimmed(piece.text), 40))));
      return {};
  }
  return {};
}

Result<std::vector<ShellRuns>> ShellState::fields(const ShellWord& word, const ShellSpot& spot) {
  Fields fields;
  for (const ShellPiece& piece : word.pieces) {
    SEXTANT_CHECK_OK(expand_piece(piece, spot, fields));
  }
  fields.end_field();
  SEXTANT_CHECK_OK(within_budget(word.offset));
  return std::move(fields.done);
}

Result<ShellRuns> ShellState::joined(std::span<const ShellPiece> pieces, const ShellSpot& spot) {
  Fields fields{.splits = false};
  for (const ShellPiece& piece : pieces) {
    SEXTANT_CHECK_OK(expand_piece(piece, spot, fields));
    SEXTANT_CHECK_OK(within_budget(piece.offset));
  }
  return std::move(fields.open);
}

void ShellState::define(std::string_view name, ShellRuns value) {
  variables_[std::string(name)].values = {Value{{std::move(value)}, false, 0, 0}};
}

void ShellState::remember(const std::string& name, Value value) {
  Variable& variable = variables_[name];
  if (value.branch == 0) {
    variable.values.clear();
    variable.why.clear();
  }
  variable.values.push_back(std::move(value));
  if (variable.values.size() > kMaxCandidates) {
    variable.values.clear();
    variable.why = fmt::format("{} is set in more than {} branches", name, kMaxCandidates);
  }
}

Result<ShellState::Value> ShellState::value_made(const ShellAssignment& assignment,
                                                 const ShellSpot& spot) {
  Value made;
  made.array = assignment.array;
  made.branch = innermost(spot);
  made.line = stretches_.empty() ? line_of(assignment.offset) : 0;
  for (const ShellWord& word : assignment.values) {
    if (assignment.array) {
      SEXTANT_TRY(std::vector<ShellRuns> parts, fields(word, spot));
      std::ranges::move(parts, std::back_inserter(made.elements));
    } else {
      SEXTANT_TRY(ShellRuns runs, joined(word.pieces, spot));
      if (made.branch != 0 && mentions(word.pieces, assignment.name)) {
        mark_addition(runs, word, made.branch);
      }
      made.elements.push_back(std::move(runs));
    }
  }
  return made;
}

// NAME+=…, NAME=$NAME…
Result<void> ShellState::append(const ShellAssignment& assignment, Value made,
                                const ShellSpot& spot) {
  Result<Value> before = value_of(assignment.name, spot);
  SEXTANT_CHECK_OK(within_budget(assignment.offset));
  if (!before) {
    if (before.error().kind == ErrorKind::kNotFound) {
      remember(assignment.name, std::move(made));
    }
    return {};
  }
  for (ShellRuns& element : made.elements) {
    for (ShellRun& run : element) {
      run.branch = run.branch == 0 ? made.branch : run.branch;
    }
    if (assignment.array || before->elements.empty()) {
      before->elements.push_back(std::move(element));
    } else {
      std::ranges::move(element, std::back_inserter(before->elements[0]));
    }
  }
  before->array = before->array || assignment.array;
  variables_[assignment.name].values = {std::move(*before)};
  return {};
}

Result<void> ShellState::assign(const ShellAssignment& assignment, const ShellSpot& spot) {
  Variable& variable = variables_[assignment.name];
  variable.exported = variable.exported || assignment.exported;
  if (assignment.computed) {
    variable.why =
        fmt::format("{} is set by ((…)), let or read (line {}), which are not worked out",
                    assignment.name, line_of(assignment.offset));
    return {};
  }
  if (assignment.values.empty() && !assignment.array && !assignment.loops) {
    return {};
  }
  const bool self = std::ranges::any_of(assignment.values, [&](const ShellWord& word) {
    return mentions(word.pieces, assignment.name);
  });
  const std::int64_t line = stretches_.empty() ? line_of(assignment.offset) : 0;
  if (assignment.loops && assignment.values.size() != 1) {
    variable.why =
        fmt::format("{} takes several values in a loop (line {})", assignment.name, line);
    return {};
  }
  if (spot.in_loop && (self || assignment.appends)) {
    variable.why = fmt::format("{} changes in a loop (line {})", assignment.name, line);
    return {};
  }
  if (!assignment.index.empty()) {
    variable.why = fmt::format("{} is set element by element (line {})", assignment.name, line);
    return {};
  }
  SEXTANT_TRY(Value made, value_made(assignment, spot));
  if (assignment.appends) {
    return append(assignment, std::move(made), spot);
  }
  if (self && made.branch != 0 && value_of(assignment.name, spot)) {
    const Value before = *value_of(assignment.name, spot);
    made.branch = before.branch;
    variables_[assignment.name].values = {std::move(made)};
    return {};
  }
  remember(assignment.name, std::move(made));
  return {};
}

}  // namespace sextant::emit
