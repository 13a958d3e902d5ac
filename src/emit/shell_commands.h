// The commands of a bash script in the order they stand, each with its assignments and words as
// written, the branches it stands in and the loop or function that a stretch of them makes. Control
// flow is told by its keywords only; who runs the commands decides (emit/shell_reader.h).
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
  bool local = false;     // of the function that it stands in
  bool computed = false;  // by ((…)) or let, in a way that is not worked out
  std::vector<ShellWord> values;
};

// `> file`, `>> file`, `<<EOF`, `<<< word`.
struct ShellRedirection {
  enum class Kind { kWrite, kAppend, kHereDocument, kHereString };
  Kind kind = Kind::kWrite;
  ShellWord word{};      // the file, or the text behind <<<
  std::size_t body = 0;  // of a here-document: its number in ShellText::bodies
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

// A stretch of commands that may run several times, or not where it stands.
struct ShellBlock {
  enum class Kind { kNone, kFor, kWhile, kUntil, kOther, kFunction };
  Kind kind = Kind::kNone;
  std::string name{};             // of the function, or of the variable of a `for`
  std::vector<ShellWord> list{};  // of a `for`
  // Indices of commands, behind this one: of a loop the condition, the body behind `do`, the end.
  std::size_t body = 0;
  std::size_t end = 0;
};

struct ShellCommand {
  // With a number, or with a block, the command has nothing else.
  ShellBranch begins{};
  ShellBlock block{};
  std::vector<ShellAssignment> assignments{};  // before the words, or those `export` makes
  std::vector<ShellWord> words{};
  std::vector<ShellRedirection> redirections{};
  std::size_t offset = 0;
  bool piped = false;  // its output goes to another command
  // The branches this command stands in, outermost first: parts of if, case and loops, subshells,
  // what follows && and ||. Numbers are unique in the text.
  std::vector<int> branches{};
};

struct ShellText {
  std::vector<ShellCommand> commands;
  std::vector<std::vector<ShellPiece>> bodies;  // of here-documents
  int branches = 0;                             // the largest number
  int groups = 0;
};

Result<ShellText> shell_commands(std::string_view text, std::string_view name);

}  // namespace sextant::emit
