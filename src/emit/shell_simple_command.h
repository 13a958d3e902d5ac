// One command of a bash script without its control flow: assignments, words, arrays, redirections
// and the here-documents that they open.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "emit/shell_commands.h"
#include "emit/shell_words.h"

namespace sextant::emit {

class SimpleCommands {
 public:
  SimpleCommands(std::string_view text, std::string_view name) : words_(text, name), name_(name) {}

  [[nodiscard]] ShellWords& words() { return words_; }

  // The command that begins with `word`. True: it was the head of a function, whose body follows.
  Result<bool> read(ShellCommand& command, ShellWord word);
  // A word here, which has no pieces where an operator stands. An Error where there are too many.
  Result<ShellWord> next_word();
  // "2> file", "&>file", "<<EOF", "<<<word": passed over with the word they take. False: there is
  // none here.
  Result<bool> redirection();
  // The here-documents opened on the line that has ended.
  Result<void> skip_here_documents();
  // Blanks, comments and line ends.
  void skip_lines();

 private:
  Result<bool> is_function(ShellCommand& command);
  Result<bool> assignment(ShellCommand& command, ShellWord& word);
  Result<std::vector<ShellWord>> array_values();
  Result<void> skip_redirections();

  ShellWords words_;
  std::string_view name_;
  std::size_t count_ = 0;  // words so far
  std::vector<std::pair<std::string, std::size_t>>
      here_documents_;  // how each ends, where it opens
};

}  // namespace sextant::emit
