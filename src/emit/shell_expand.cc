// What the words of a script come to: variables, arithmetic and fields.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/shell_arithmetic.h"
#include "emit/shell_state.h"

namespace sextant::emit {
namespace {

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

// Text of the words being read, with its origins in the script.
void ShellState::put_text(const ShellPiece& piece, Fields& fields) const {
  ShellRun run;
  run.text = piece.text;
  run.quoted = piece.quoted;
  run.verbatim = piece.length == piece.text.size();
  const std::span<const ShellStretch> stretches = reading_.stretches;
  auto stretch = std::ranges::upper_bound(stretches, piece.offset, {}, &ShellStretch::position);
  if (stretch == stretches.begin()) {  // text that was put in
    run.origin = kNoOrigin;
    run.verbatim = false;
    fields.put(std::move(run));
    return;
  }
  if (!run.verbatim) {  // an escape was taken off: where it came from is lost, what it hangs on not
    const auto from = stretch - 1;
    run.origin = kNoOrigin;
    run.branch = from->branch;
    run.why = from->why;
    fields.put(std::move(run));
    return;
  }
  std::size_t done = 0;
  fields.started = true;
  for (--stretch; stretch != stretches.end() && done < piece.text.size(); ++stretch) {
    const std::size_t into = piece.offset + done - stretch->position;
    if (into >= stretch->length) {
      break;
    }
    const std::size_t part = std::min(stretch->length - into, piece.text.size() - done);
    run.text = piece.text.substr(done, part);
    run.origin = stretch->verbatim ? stretch->origin + into : stretch->origin;
    run.verbatim = stretch->verbatim;
    run.branch = stretch->branch;
    run.why = stretch->why;
    fields.put(run);
    done += part;
  }
  if (done < piece.text.size()) {
    ShellRun rest;
    rest.text = piece.text.substr(done);
    rest.quoted = piece.quoted;
    fields.put(std::move(rest));
  }
}

ShellRun ShellState::unknown(const ShellPiece& piece, std::string why) const {
  ShellRun run;
  run.text = reading_.text.substr(std::min(piece.offset, reading_.text.size()), piece.length);
  run.quoted = piece.quoted;
  run.origin = origin_of(piece.offset);
  run.why = std::move(why);
  return run;
}

// A value in the place of `$NAME`: "${A[@]}" stays apart, everything else is one text.
void ShellState::put_value(const ShellPiece& piece, const Value& value, Fields& fields) {
  const bool all =
      piece.index == "@" || piece.index == "*" || piece.text == "@" || piece.text == "*";
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
    value.branch = spot.innermost();
    value.line = line_at(piece.offset);
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
  if (const std::int64_t line = set_elsewhere(piece.text, spot);
      line > 0 && !piece.operation.empty()) {
    if (piece.operation.ends_with('=')) {  // one more value that it may have
      SEXTANT_TRY(ShellRuns otherwise, joined(piece.operand, spot));
      variables_[piece.text].values.push_back(
          {{std::move(otherwise)}, false, spot.innermost(), line_at(piece.offset)});
    }
    fields.put(
        unknown(piece, fmt::format("{} is set in a branch only (line {})", piece.text, line)));
    return {};
  }
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
  run.origin = origin_of(piece.offset);
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
      if (output_) {
        SEXTANT_TRY(std::optional<ShellRuns> printed, output_(piece, spot));
        if (printed) {
          Value value;
          value.elements.push_back(*std::move(printed));
          put_value(piece, value, fields);
          return {};
        }
      }
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

}  // namespace sextant::emit
