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
  const bool local = plain_text(command.words[0]) == "local";
  for (ShellAssignment& assignment : command.assignments) {
    assignment.exported = exports;
    assignment.local = local;
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
    SEXTANT_CHECK_OK(read_redirections(command.redirections));
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

Result<void> SimpleCommands::read_redirections(std::vector<ShellRedirection>& list) {
  while (true) {
    words_.skip_blanks();
    SEXTANT_TRY(const bool redirected, redirection(list));
    if (!redirected) {
      return {};
    }
  }
}

Result<bool> SimpleCommands::redirection(std::vector<ShellRedirection>& list) {
  std::size_t digits = 0;
  while (words_.peek(digits) >= '0' && words_.peek(digits) <= '9') {
    ++digits;
  }
  const bool both = words_.looking_at("&>");
  const char sign = words_.peek(both ? 1 : digits);
  if (sign != '<' && sign != '>') {
    return false;
  }
  const bool output = sign == '>' && !both && (digits == 0 || words_.peek() == '1');
  words_.skip(both ? 1 : digits);
  const bool text = words_.looking_at("<<<");
  const bool here = words_.looking_at("<<") && !text;
  const bool adds = words_.looking_at(">>");
  const bool copies = words_.peek(1) == '&';  // 2>&1: another descriptor, no file
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
  SEXTANT_TRY(ShellWord target, next_word());
  using Kind = ShellRedirection::Kind;
  if (here) {
    Opened opened{.at = target.offset, .body = bodies_.size()};
    for (const ShellPiece& piece : target.pieces) {
      opened.ends_with += piece.text;
      opened.literal = opened.literal || piece.quoted;
    }
    list.push_back({Kind::kHereDocument, {}, opened.body});
    bodies_.emplace_back();
    here_documents_.push_back(std::move(opened));
  } else if (text) {
    list.push_back({Kind::kHereString, std::move(target), 0});
  } else if (output && !copies) {
    list.push_back({adds ? Kind::kAppend : Kind::kWrite, std::move(target), 0});
  }
  return true;
}

// A body is a text between double quotes, or as it stands.
Result<void> SimpleCommands::keep_body(std::size_t number, std::size_t start, std::size_t end,
                                       bool literal) {
  if (literal) {
    ShellPiece piece = piece_at(ShellPiece::Kind::kText, start, true);
    piece.text = words_.text().substr(start, end - start);
    piece.length = piece.text.size();
    bodies_[number].push_back(std::move(piece));
    return {};
  }
  ShellWords inside(words_.text().substr(0, end), name_);
  inside.skip(start);
  if (auto pieces = inside.quoted_text(0)) {
    bodies_[number] = *std::move(pieces);
  } else {  // text that bash would stumble over too: nobody knows what it holds
    ShellPiece piece = piece_at(ShellPiece::Kind::kCommand, start, true);
    piece.text = "a here-document";
    bodies_[number].push_back(std::move(piece));
  }
  return {};
}

// Over the lines up to the one that says `ends_with`, and over that one: where it starts. Nothing:
// there is none.
std::optional<std::size_t> SimpleCommands::skip_to_line(std::string_view ends_with) {
  while (!words_.at_end()) {
    const std::size_t start = words_.at();
    const std::string_view rest = words_.text().substr(start);
    const std::string_view line = rest.substr(0, rest.find('\n'));
    words_.skip(std::min(line.size() + 1, rest.size()));
    if (trimmed(line) == ends_with) {
      return start;
    }
  }
  return std::nullopt;
}

Result<void> SimpleCommands::read_here_documents() {
  for (const Opened& opened : std::exchange(here_documents_, {})) {
    const std::size_t start = words_.at();
    const std::optional<std::size_t> end = skip_to_line(opened.ends_with);
    if (!end) {
      return invalid(fmt::format("the here-document {} that opens here is never closed",
                                 printable(opened.ends_with)),
                     words_.where(opened.at));
    }
    SEXTANT_CHECK_OK(keep_body(opened.body, start, *end, opened.literal));
  }
  return {};
}

}  // namespace sextant::emit
