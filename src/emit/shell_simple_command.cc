#include "emit/shell_simple_command.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::emit {
namespace {

bool declares_names(std::string_view word) {
  constexpr std::array<std::string_view, 5> kWords{"export", "declare", "typeset", "local",
                                                   "readonly"};
  return std::ranges::find(kWords, word) != kWords.end();
}

// `export A B=1`: what `export` makes is exported, and so is a name alone.
void finish_declaration(ShellCommand& command) {
  bool exports = plain_text(command.words[0]) == "export";
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const std::string_view text = plain_text(command.words[i]);
    exports = exports || (text.starts_with('-') && text.find('x') != std::string_view::npos);
    if (is_shell_name(text)) {
      ShellAssignment assignment;
      assignment.name = text;
      assignment.offset = command.words[i].offset;
      command.assignments.push_back(std::move(assignment));
    }
  }
  for (ShellAssignment& assignment : command.assignments) {
    assignment.exported = exports;
  }
  command.words.clear();
}

}  // namespace

void SimpleCommands::skip_lines() {
  words_.skip_blanks();
  while (words_.peek() == '\n') {
    words_.skip(1);
    words_.skip_blanks();
  }
}

Result<ShellWord> SimpleCommands::next_word() {
  SEXTANT_TRY(ShellWord word, words_.word());
  if (++count_ > kMaxShellWords) {
    return invalid(fmt::format("{} has more than {} words", name_, kMaxShellWords),
                   words_.where(words_.at()));
  }
  return word;
}

Result<bool> SimpleCommands::read(ShellCommand& command, ShellWord word) {
  bool declares = false;
  while (!word.pieces.empty() || words_.looking_at("<(") || words_.looking_at(">(")) {
    SEXTANT_TRY(const bool assigned, command.words.empty() || declares ? assignment(command, word)
                                                                       : Result<bool>(false));
    if (!assigned) {
      command.words.push_back(std::move(word));
      declares = declares || declares_names(plain_text(command.words[0]));
    }
    SEXTANT_TRY(const bool function, is_function(command));
    if (function) {
      return true;
    }
    SEXTANT_CHECK_OK(skip_redirections());
    SEXTANT_TRY(word, next_word());
  }
  if (declares) {
    finish_declaration(command);
  }
  return false;
}

// name(): what follows is its body.
Result<bool> SimpleCommands::is_function(ShellCommand& command) {
  if (command.words.size() != 1) {
    return false;
  }
  words_.skip_blanks();
  if (words_.peek() != '(') {
    return false;
  }
  words_.skip(1);
  SEXTANT_CHECK_OK(words_.skip_to_closing(')'));
  command.words.clear();
  return true;
}

// NAME=…, NAME+=…, NAME[i]=…: taken off the command's words.
Result<bool> SimpleCommands::assignment(ShellCommand& command, ShellWord& word) {
  if (word.pieces.empty() || word.pieces[0].kind != ShellPiece::Kind::kText ||
      word.pieces[0].quoted) {
    return false;
  }
  ShellPiece& first = word.pieces[0];
  const std::size_t equals = first.text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return false;
  }
  std::string_view name = std::string_view(first.text).substr(0, equals);
  ShellAssignment made;
  made.offset = word.offset;
  if (name.ends_with('+')) {
    made.appends = true;
    name.remove_suffix(1);
  }
  if (const std::size_t bracket = name.find('[');
      bracket != std::string_view::npos && name.ends_with(']')) {
    made.index = name.substr(bracket + 1, name.size() - bracket - 2);
    name = name.substr(0, bracket);
  }
  if (!is_shell_name(name)) {
    return false;
  }
  made.name = name;
  if (words_.peek() == '(' && words_.at() == word.offset + equals + 1) {
    made.array = true;
    words_.skip(1);
    SEXTANT_TRY(made.values, array_values());
  } else {
    first.text.erase(0, equals + 1);
    first.offset += equals + 1;
    first.length -= equals + 1;
    word.offset += equals + 1;
    word.length -= equals + 1;
    made.values.push_back(std::move(word));
  }
  command.assignments.push_back(std::move(made));
  return true;
}

Result<std::vector<ShellWord>> SimpleCommands::array_values() {
  const std::size_t opened_at = words_.at();
  std::vector<ShellWord> values;
  while (true) {
    skip_lines();
    if (words_.at_end()) {
      return invalid("the array ( that opens here is never closed", words_.where(opened_at - 1));
    }
    if (words_.peek() == ')') {
      words_.skip(1);
      return values;
    }
    SEXTANT_TRY(ShellWord word, next_word());
    if (word.pieces.empty()) {
      return invalid(fmt::format("'{}' inside an array", words_.peek()), words_.where(words_.at()),
                     "words and comments");
    }
    values.push_back(std::move(word));
  }
}

Result<void> SimpleCommands::skip_redirections() {
  while (true) {
    words_.skip_blanks();
    SEXTANT_TRY(const bool redirected, redirection());
    if (!redirected) {
      return {};
    }
  }
}

// "2> file", "&>file", "<<EOF", "<<<word": passed over with the word they take.
Result<bool> SimpleCommands::redirection() {
  std::size_t digits = 0;
  while (words_.peek(digits) >= '0' && words_.peek(digits) <= '9') {
    ++digits;
  }
  const bool both = words_.looking_at("&>");
  const char sign = words_.peek(both ? 1 : digits);
  if (sign != '<' && sign != '>') {
    return false;
  }
  words_.skip(both ? 1 : digits);
  const bool here = words_.looking_at("<<") && !words_.looking_at("<<<");
  while (std::string_view("<>&|").find(words_.peek()) != std::string_view::npos &&
         !words_.at_end()) {
    words_.skip(1);
  }
  if (words_.peek() == '(') {
    words_.skip(1);
    SEXTANT_CHECK_OK(words_.skip_to_closing(')'));
    return true;
  }
  const bool tabs = here && words_.peek() == '-';
  words_.skip(tabs ? 1 : 0);
  words_.skip_blanks();
  SEXTANT_TRY(const ShellWord target, next_word());
  if (here) {
    std::string ends_with;
    for (const ShellPiece& piece : target.pieces) {
      ends_with += piece.text;
    }
    here_documents_.emplace_back(std::move(ends_with), target.offset);
  }
  return true;
}

Result<void> SimpleCommands::skip_here_documents() {
  for (const auto& [ends_with, opened_at] : std::exchange(here_documents_, {})) {
    while (true) {
      if (words_.at_end()) {
        return invalid(fmt::format("the here-document {} that opens here is never closed",
                                   printable(ends_with)),
                       words_.where(opened_at));
      }
      const std::string_view rest = words_.text().substr(words_.at());
      const std::string_view line = rest.substr(0, rest.find('\n'));
      words_.skip(std::min(line.size() + 1, rest.size()));
      if (trimmed(line) == ends_with) {
        break;
      }
    }
  }
  return {};
}

}  // namespace sextant::emit
