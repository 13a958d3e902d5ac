// What the assignments of a script do to its variables.
#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "emit/shell_state.h"

namespace sextant::emit {
namespace {

constexpr std::size_t kMaxCandidates = 16;

bool mentions(std::span<const ShellPiece> pieces, std::string_view name) {
  return std::ranges::any_of(pieces, [&](const ShellPiece& piece) {
    return (piece.kind == ShellPiece::Kind::kVariable && piece.text == name) ||
           (piece.kind == ShellPiece::Kind::kArithmetic &&
            piece.text.find(name) != std::string::npos) ||
           mentions(piece.operand, name);
  });
}

}  // namespace

void ShellState::define(std::string_view name, ShellRuns value) {
  variables_[std::string(name)].values = {Value{{std::move(value)}, false, 0, 0}};
}

void ShellState::define_list(std::string_view name, std::vector<ShellRuns> values) {
  variables_[std::string(name)].values = {Value{std::move(values), true, 0, 0}};
}

void ShellState::forget(std::string_view name) {
  variables_.erase(std::string(name));
}

void ShellState::set(std::string_view name, std::vector<ShellRuns> elements, bool array,
                     const ShellSpot& spot) {
  remember(std::string(name), Value{std::move(elements), array, spot.innermost(), 0});
}

void ShellState::cannot_know(std::string_view name, std::string why) {
  variables_[std::string(name)].why = std::move(why);
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

// A branch that adds to what was: everything but what was is there only if the branch is taken.
Result<ShellRuns> ShellState::text_made(const ShellWord& word, const std::string& name,
                                        const ShellSpot& spot) {
  const int branch = spot.innermost();
  if (branch == 0 || !mentions(word.pieces, name)) {
    return joined(word.pieces, spot);
  }
  ShellRuns made;
  for (const ShellPiece& piece : word.pieces) {
    SEXTANT_TRY(ShellRuns runs, joined(std::span(&piece, 1), spot));
    const bool was = piece.kind == ShellPiece::Kind::kVariable && piece.text == name;
    for (ShellRun& run : runs) {
      run.branch = run.branch == 0 && !was ? branch : run.branch;
      made.push_back(std::move(run));
    }
  }
  return made;
}

Result<ShellState::Value> ShellState::value_made(const ShellAssignment& assignment,
                                                 const ShellSpot& spot) {
  Value made;
  made.array = assignment.array;
  made.branch = spot.innermost();
  made.line = line_at(assignment.offset);
  for (const ShellWord& word : assignment.values) {
    if (assignment.array) {
      SEXTANT_TRY(std::vector<ShellRuns> parts, fields(word, spot));
      std::ranges::move(parts, std::back_inserter(made.elements));
    } else {
      SEXTANT_TRY(ShellRuns runs, text_made(word, assignment.name, spot));
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
    variable.why = fmt::format("{} is set by ((…)) or let (line {}), which is not worked out",
                               assignment.name, line_at(assignment.offset));
    return {};
  }
  if (assignment.values.empty() && !assignment.array) {
    return {};
  }
  const bool self = std::ranges::any_of(assignment.values, [&](const ShellWord& word) {
    return mentions(word.pieces, assignment.name);
  });
  const std::int64_t line = line_at(assignment.offset);
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
