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
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "emit/shell_commands.h"
#include "emit/shell_sources.h"

namespace sextant::emit {

// The text that one variable holds, and all the text that is looked at over the whole script; more
// is an Error. What a script writes down and drops again costs little: a list that grows by a word
// a line is looked at once a line.
inline constexpr std::size_t kMaxShellExpansion = std::size_t{1} << 20U;  // bytes
inline constexpr std::size_t kMaxShellWork = std::size_t{32} << 20U;

// Text that came out of a word, from one place.
struct ShellRun {
  std::string text{};
  // In the script: of the text's first byte, or of what it was worked out from.
  std::size_t origin = kNoOrigin;
  bool verbatim = false;  // the script has just these bytes there
  bool quoted = false;
  int branch = 0;     // only there if this branch is taken; 0: always
  std::string why{};  // not empty: the text is the spelling of something that is not known
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

// What a command prints, worked out without running it; nothing where that is not known.
// `stretches` as of the text in which it stands.
using ShellOutput = std::function<Result<std::optional<ShellRuns>>(const ShellPiece& command,
                                                                   const ShellSpot& spot)>;

class ShellState {
 public:
  // REQUIRES: the sources outlive the state.
  ShellState(const ShellSources& sources, std::string_view name)
      : sources_(&sources), name_(name) {}
  void ask_output(ShellOutput output) { output_ = std::move(output); }

  // The fields a word comes to: none, one, or several where a variable is split.
  Result<std::vector<ShellRuns>> fields(const ShellWord& word, const ShellSpot& spot);
  // The word as one field, as on the right of an assignment.
  Result<ShellRuns> joined(std::span<const ShellPiece> pieces, const ShellSpot& spot);
  Result<void> assign(const ShellAssignment& assignment, const ShellSpot& spot);
  // A variable that something outside the script sets.
  void define(std::string_view name, ShellRuns value);
  void define_list(std::string_view name, std::vector<ShellRuns> values);
  void forget(std::string_view name);
  // Set by a command (read) in this place.
  void set(std::string_view name, std::vector<ShellRuns> elements, bool array,
           const ShellSpot& spot);
  void cannot_know(std::string_view name, std::string why);
  // Nothing in the script sets it, and neither the shell nor Slurm does.
  [[nodiscard]] bool is_unset(std::string_view name) const;
  // A file is read whose variables are not known.
  void note_source(std::size_t offset);

  // Words are read from this text until the next call; its bytes stand where `stretches` say.
  // REQUIRES: both outlive their use.
  struct Reading {
    std::string_view text;
    std::span<const ShellStretch> stretches;
  };
  Reading read_from(Reading reading) { return std::exchange(reading_, reading); }
  // Where a byte of that text came from.
  [[nodiscard]] std::size_t origin_of(std::size_t offset) const;
  // Stretches of a part of that text, as of a text of its own.
  [[nodiscard]] std::vector<ShellStretch> stretches_of(std::size_t offset,
                                                       std::size_t length) const;

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
  using Variables = std::map<std::string, Variable, std::less<>>;
  [[nodiscard]] const Variables& variables() const { return variables_; }
  // Another program has its own, made of those that are exported.
  Variables exchange_variables(Variables variables) {
    return std::exchange(variables_, std::move(variables));
  }
  [[nodiscard]] Variables exported() const;
  // One variable as it is, to be put back: what a function calls its own.
  [[nodiscard]] std::optional<Variable> variable(std::string_view name) const;
  void put_back(std::string_view name, std::optional<Variable> before);
  // Its value at this spot, or the reason why there is none (Error::what).
  Result<Value> value_of(std::string_view name, const ShellSpot& spot);
  [[nodiscard]] std::int64_t line_of(std::size_t origin) const { return sources_->line_of(origin); }
  [[nodiscard]] std::string line_text(std::size_t origin) const {
    return sources_->line_text(origin);
  }

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

  // In its file, of a byte of the text that is being read.
  [[nodiscard]] std::int64_t line_at(std::size_t offset) const {
    return line_of(origin_of(offset));
  }

  const ShellSources* sources_;
  std::string_view name_;
  Reading reading_;
  ShellOutput output_;
  Variables variables_;
  std::size_t spent_ = 0;
  std::size_t largest_ = 0;  // of the values that were looked at
  std::int64_t source_line_ = 0;
};

}  // namespace sextant::emit
