// The commands of a bash script in the order they stand, each with its assignments and words as
// written, and the branches it stands in. Control flow is followed by its keywords only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "emit/shell_words.h"

namespace sextant::emit {

// Limits on a script; more is an Error.
inline constexpr std::size_t kMaxShellText = std::size_t{4} << 20U;   // bytes
inline constexpr std::size_t kMaxShellWords = std::size_t{1} << 17U;  // in the whole script

// NAME=value, NAME+=value, NAME=( … ). No values: the name alone (`export NAME`).
struct ShellAssignment {
  std::string name;
  std::string index;  // of NAME[index]=value
  std::size_t offset = 0;
  bool appends = false;
  bool array = false;
  bool exported = false;
  bool loops = false;     // `for NAME in values`
  bool computed = false;  // by ((…)), let or read: not known
  std::vector<ShellWord> values;
};

// A command on whose success a branch hangs: a test, ((…)), or anything else, which is not known.
struct ShellTerm {
  enum class Kind { kTest, kArithmetic, kOther };
  Kind kind = Kind::kOther;
  std::vector<ShellWord> words{};  // between the brackets of [ … ] and [[ … ]]; operators are words
  std::string arithmetic{};        // between those of ((…))
  bool negated = false;            // ! before it
  bool or_else = false;            // joined by ||, else by &&, to what stands before it
};
// A condition of more terms is not worked out.
inline constexpr std::size_t kMaxShellTerms = 16;

// Where a branch begins, and when it is taken.
struct ShellBranch {
  int number = 0;  // as ShellCommand::branches has it; 0: none begins here
  int group = 0;   // its if or case, of which one branch is taken at most; 0: it
                   // stands alone
  bool loop = false;
  bool otherwise = false;               // `else`, or the pattern *
  bool negated = false;                 // behind ||
  std::vector<ShellTerm> terms{};       // none, and no subject: not known
  std::vector<ShellWord> subject{};     // of a case, its word
  std::vector<std::string> patterns{};  // of this branch of it, as written
};

struct ShellCommand {
  ShellBranch begins{};                        // with a number, the command has nothing else
  std::vector<ShellAssignment> assignments{};  // before the words, or those `export` makes
  std::vector<ShellWord> words{};
  std::size_t offset = 0;
  // The branches this command stands in, outermost first: parts of if, case and loops, functions,
  // what follows && and ||. Numbers are unique in the script.
  std::vector<int> branches{};
  bool in_loop = false;
};

Result<std::vector<ShellCommand>> shell_commands(std::string_view text, std::string_view name);

}  // namespace sextant::emit
