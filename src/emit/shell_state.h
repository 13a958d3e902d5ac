// The variables of a bash script while it is read from top to bottom, and what its words come to.
//
// Straight-line rules: an assignment outside of every branch replaces what was; one inside a branch
// is one of several possible values, and the variable has a value only where all of them agree (or
// the use stands in the same branch). What cannot be known keeps its spelling and gains a reason.
// shell_state.cc has the variables, shell_assign.cc what assignments do to them, shell_expand.cc
// what words come to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "emit/shell_commands.h"

namespace sextant::emit {

// The text that one variable holds, and all the text that is looked at over the whole script; more
// is an Error. What a script writes down and drops again costs little: a list that grows by a word
// a line is looked at once a line.
inline constexpr std::size_t kMaxShellExpansion = std::size_t{1} << 20U;  // bytes
inline constexpr std::size_t kMaxShellWork = std::size_t{32} << 20U;

inline constexpr std::size_t kNoOrigin = static_cast<std::size_t>(-1);

// Text that came out of a word, from one place.
struct ShellRun {
  std::string text;
  // In the script: of the text's first byte, or of what it was worked out from.
  std::size_t origin = kNoOrigin;
  bool verbatim = false;  // the script has just these bytes there
  bool quoted = false;
  int branch = 0;   // only there if this branch is taken; 0: always
  std::string why;  // not empty: the text is the spelling of something that is not known
};
using ShellRuns = std::vector<ShellRun>;

std::string text_of(const ShellRuns& runs);

// A stretch of a text that was put together from others: where its bytes came from.
struct ShellStretch {
  std::size_t position = 0;
  std::size_t length = 0;
  std::size_t origin = 0;
  bool verbatim = false;
  int branch = 0;  // as ShellRun has them
  std::string why{};
};

// Where a command stands.
struct ShellSpot {
  std::vector<int> branches;
  bool in_loop = false;

  // 0: outside of every branch.
  [[nodiscard]] int innermost() const { return branches.empty() ? 0 : branches.back(); }
};

class ShellState {
 public:
  // REQUIRES: the script outlives the state.
  ShellState(std::string_view script, std::string_view name);

  // The fields a word comes to: none, one, or several where a variable is split.
  Result<std::vector<ShellRuns>> fields(const ShellWord& word, const ShellSpot& spot);
  // The word as one field, as on the right of an assignment.
  Result<ShellRuns> joined(std::span<const ShellPiece> pieces, const ShellSpot& spot);
  Result<void> assign(const ShellAssignment& assignment, const ShellSpot& spot);
  // A variable that something outside the script sets.
  void define(std::string_view name, ShellRuns value);
  void define_list(std::string_view name, std::vector<ShellRuns> values);
  void forget(std::string_view name);
  void cannot_know(std::string_view name, std::string why);
  // Nothing in the script sets it, and neither the shell nor Slurm does.
  [[nodiscard]] bool is_unset(std::string_view name) const;
  // A file is read whose variables are not known.
  void note_source(std::size_t offset);

  // Words are read from `text` until the next call, whose bytes stand elsewhere in the script.
  // REQUIRES: the text outlives its use. No stretches: the script itself.
  void read_from(std::string_view text, std::vector<ShellStretch> stretches);
  [[nodiscard]] std::string_view reading() const { return text_; }

  struct Value {
    std::vector<ShellRuns> elements;
    bool array = false;
    int branch = 0;  // innermost one the assignment stands in
    std::int64_t line = 0;
  };
  struct Variable {
    std::vector<Value> values;  // those that may stand
    bool exported = false;
    std::string why;  // not empty: can never be known
  };
  [[nodiscard]] const std::map<std::string, Variable, std::less<>>& variables() const {
    return variables_;
  }
  // Its value at this spot, or the reason why there is none (Error::what).
  Result<Value> value_of(std::string_view name, const ShellSpot& spot);
  [[nodiscard]] std::int64_t line_of(std::size_t origin) const;

 private:
  struct Fields;
  Result<void> expand_piece(const ShellPiece& piece, const ShellSpot& spot, Fields& fields);
  Result<void> expand_variable(const ShellPiece& piece, const ShellSpot& spot, Fields& fields);
  Result<void> expand_operand(const ShellPiece& piece, const ShellSpot& spot, Fields& fields);
  Result<void> expand_arithmetic(const ShellPiece& piece, const ShellSpot& spot, Fields& fields);
  static void put_value(const ShellPiece& piece, const Value& value, Fields& fields);
  Result<void> append(const ShellAssignment& assignment, Value made, const ShellSpot& spot);
  Result<ShellRuns> text_made(const ShellWord& word, const std::string& name,
                              const ShellSpot& spot);
  Result<Value> value_made(const ShellAssignment& assignment, const ShellSpot& spot);
  [[nodiscard]] std::string why_unset(std::string_view name) const;
  [[nodiscard]] ShellRun unknown(const ShellPiece& piece, std::string why) const;
  void put_text(const ShellPiece& piece, Fields& fields) const;
  [[nodiscard]] Result<void> within_budget(std::size_t offset) const;
  void remember(const std::string& name, Value value);
  // The line of a value that other branches alone give it; 0: it has one here, or none at all.
  [[nodiscard]] std::int64_t set_elsewhere(std::string_view name, const ShellSpot& spot) const;

  std::string_view script_;
  std::string_view text_;
  std::string_view name_;
  std::vector<ShellStretch> stretches_;
  std::vector<std::size_t> line_starts_;
  std::map<std::string, Variable, std::less<>> variables_;
  std::size_t spent_ = 0;
  std::size_t largest_ = 0;  // of the values that were looked at
  std::int64_t source_line_ = 0;
};

}  // namespace sextant::emit
