// One command of a bash script without its control flow: assignments, words, arrays, redirections
// and the here-documents that they open.
#pragma once

#include <cstddef>
#include <optional>
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
  // "2> file", "&>file", "<<EOF", "<<<word", with the word they take; those of a command's output
  // and input are added to `list`. False: there is none here.
  Result<bool> redirection(std::vector<ShellRedirection>& list);
  // Over the here-documents opened on the line that has ended.
  Result<void> read_here_documents();
  // What they hold, as words of the script.
  [[nodiscard]] std::vector<std::vector<ShellPiece>>& bodies() { return bodies_; }
  // Blanks, comments and line ends.
  void skip_lines();

 private:
  Result<bool> is_function(ShellCommand& command);
  Result<bool> assignment(ShellCommand& command, ShellWord& word);
  Result<std::vector<ShellWord>> array_values();
  Result<void> read_redirections(std::vector<ShellRedirection>& list);
  std::optional<std::size_t> skip_to_line(std::string_view ends_with);
  Result<void> keep_body(std::size_t number, std::size_t start, std::size_t end, bool literal);

  ShellWords words_;
  std::string_view name_;
  std::size_t count_ = 0;  // words so far
  struct Opened {
    std::string ends_with{};
    std::size_t at = 0;
    bool literal = false;  // its delimiter is quoted
    std::size_t body = 0;
  };
  std::vector<Opened> here_documents_;
  std::vector<std::vector<ShellPiece>> bodies_;
};

}  // namespace sextant::emit
