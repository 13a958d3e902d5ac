// The commands of one text, read word by word: lists, and the constructs that hold them
// (shell_commands.cc), what opens and ends these (shell_blocks.cc).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "emit/shell_commands.h"
#include "emit/shell_simple_command.h"
#include "emit/shell_terms.h"

namespace sextant::emit {

class ShellCommandList {
 public:
  ShellCommandList(std::string_view text, std::string_view name)
      : text_(text), simple_(text, name) {}
  Result<ShellText> read();

 private:
  // A construct that is open: `fi`, `done`, `esac`, `}` or `)` ends it. branch 0: its condition is
  // being read.
  struct OpenBlock {
    std::string_view closes;
    int branch = 0;
    int group = 0;
    std::vector<ShellWord> subject{};     // of a case
    std::optional<std::size_t> marker{};  // of a loop or function: its command
    bool loop = false;
  };

  // Operators and line ends between commands.
  Result<bool> separator();
  Result<void> statement();
  // What follows && or || stands in a branch that hangs on everything before it.
  void join_list(bool or_else);
  void end_list();
  void begin(ShellBranch branch);
  Result<void> keep_arithmetic(std::size_t start, std::size_t length);
  void keep(ShellCommand command);
  Result<bool> read_keyword(std::string_view word);
  // then, else, do.
  void begin_part(std::string_view word);
  Result<bool> opened_loop(ShellBlock block);
  Result<bool> opened_function();
  Result<bool> opened(OpenBlock block);
  Result<void> open(OpenBlock block);
  [[nodiscard]] tl::unexpected<Error> too_many_blocks();
  // A stray `fi` is passed over: the script's own shell will say so.
  void close(std::string_view word);
  void end_block();
  // for NAME in word …, for ((…)).
  Result<bool> loop_head();
  // What the head of for ((…)) sets changes from round to round.
  std::vector<ShellAssignment> set_in(std::size_t start, std::size_t length);
  Result<std::vector<ShellWord>> words_to_end_of_command();
  Result<bool> case_head();
  // To behind the ")" of the next pattern; nothing is read where `esac` comes instead.
  Result<void> case_pattern();
  void begin_case(std::string_view patterns);
  // [[ … ]]: its words, operators among them.
  Result<bool> read_test();
  ShellWords& words() { return simple_.words(); }

  std::string_view text_;
  SimpleCommands simple_;
  std::vector<ShellCommand> commands_;
  std::vector<OpenBlock> blocks_;
  std::vector<int> chain_;  // the branch of the && and || list being read
  ShellTerms terms_;
  std::string function_;  // whose body is about to open
  int branch_ = 0;
  int group_ = 0;
};

}  // namespace sextant::emit
