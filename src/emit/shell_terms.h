// What the branches of a bash script hang on: the commands and tests of the && and || list that is
// being read; and what ((…)) and `let` set.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "emit/shell_commands.h"

namespace sextant::emit {

class ShellTerms {
 public:
  void add(ShellTerm term);
  // "!" before the next one.
  void negate() { negated_ = !negated_; }
  // Behind && or ||.
  void join(bool or_else) { or_else_ = or_else; }
  // A pipe's status is that of its last command.
  void begin_pipe() { list_.assign(1, {}); }
  void end_list();
  void forget() { list_.clear(); }
  // What the commands so far come to; none: not known.
  [[nodiscard]] std::vector<ShellTerm> so_far() const;
  // The condition that `then` or `do` ends.
  std::vector<ShellTerm> take();

 private:
  std::vector<ShellTerm> list_;  // the list being read
  std::vector<ShellTerm> last_;  // the one before it
  bool negated_ = false;
  bool or_else_ = false;
};

// [ … ] and `test …` are tests; true, false, : and what always succeeds speak for themselves.
ShellTerm term_of(const ShellCommand& command);

// ((…)) sets NAME=…, NAME+=…, NAME++: by itself it is an assignment; else, and in `let`, what it
// sets is computed. No assignments: it sets nothing.
Result<std::vector<ShellAssignment>> set_by_arithmetic(std::string_view text, std::size_t start,
                                                       std::size_t length);
std::vector<ShellAssignment> set_by_let(const ShellCommand& command);

}  // namespace sextant::emit
