#include "emit/shell_words.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/shell_characters.h"

namespace sextant::emit {
namespace {

// What ends an unquoted word.
bool ends_word(char c) {
  return is_blank(c) || std::string_view("\n;&|()<>").find(c) != std::string_view::npos;
}

}  // namespace

ShellPiece piece_at(ShellPiece::Kind kind, std::size_t offset, bool quoted) {
  ShellPiece piece;
  piece.kind = kind;
  piece.offset = offset;
  piece.quoted = quoted;
  return piece;
}

std::string_view as_written(const ShellWord& word, std::string_view script) {
  return script.substr(word.offset, word.length);
}

std::string_view plain_text(const ShellWord& word) {
  const bool plain = word.pieces.size() == 1 && !word.pieces[0].quoted &&
                     word.pieces[0].kind == ShellPiece::Kind::kText &&
                     word.pieces[0].length == word.length;
  return plain ? std::string_view(word.pieces[0].text) : std::string_view();
}

bool is_shell_name(std::string_view text) {
  return !text.empty() && is_name_start(text[0]) && std::ranges::all_of(text, is_name_character);
}

void ShellWords::skip_blanks() {
  while (!at_end()) {
    if (is_blank(peek())) {
      ++at_;
    } else if (looking_at("\\\n")) {
      at_ += 2;
    } else if (looking_at("\\\r\n")) {
      at_ += 3;
    } else {
      break;
    }
  }
  if (peek() == '#') {
    at_ = std::min(text_.find('\n', at_), text_.size());
  }
}

std::string ShellWords::where(std::size_t offset) const {
  return fmt::format("{}:{}", name_, line_column(text_, offset).line);
}

tl::unexpected<Error> ShellWords::unclosed(std::string_view what, std::size_t opened) const {
  return invalid(fmt::format("the {} that opens here is never closed", what), where(opened));
}

tl::unexpected<Error> ShellWords::too_deep() const {
  return invalid("substitutions stand too deep in each other", where(std::min(at_, text_.size())),
                 fmt::format("at most {} levels", kMaxShellDepth));
}

void ShellWords::add_text(std::vector<ShellPiece>& pieces, bool quoted) {
  ShellPiece* last = pieces.empty() ? nullptr : &pieces.back();
  if (last == nullptr || last->kind != ShellPiece::Kind::kText || last->quoted != quoted ||
      last->text.size() != last->length || last->offset + last->length != at_) {
    pieces.push_back(piece_at(ShellPiece::Kind::kText, at_, quoted));
    last = &pieces.back();
  }
  last->text += text_[at_];
  ++last->length;
  ++at_;
}

void ShellWords::read_escape(std::vector<ShellPiece>& pieces, bool quoted) {
  for (const std::string_view continued : {"\\\n", "\\\r\n"}) {
    if (looking_at(continued)) {
      at_ += continued.size();
      return;
    }
  }
  const bool keeps_backslash =
      quoted && std::string_view("$`\"\\").find(peek(1)) == std::string_view::npos;
  if (keeps_backslash || at_ + 1 >= text_.size()) {
    add_text(pieces, quoted);
    return;
  }
  ++at_;
  // An escaped character is as good as a quoted one: it is not split and opens nothing.
  pieces.push_back(piece_at(ShellPiece::Kind::kText, at_, true));
  pieces.back().text = text_[at_];
  pieces.back().length = 1;
  ++at_;
}

Result<void> ShellWords::read_single_quotes(std::vector<ShellPiece>& pieces) {
  const std::size_t opened = at_;
  const std::size_t end = text_.find('\'', at_ + 1);
  if (end == std::string_view::npos) {
    return unclosed("quote '", opened);
  }
  ShellPiece piece = piece_at(ShellPiece::Kind::kText, opened + 1, true);
  piece.text = text_.substr(opened + 1, end - opened - 1);
  piece.length = piece.text.size();
  pieces.push_back(std::move(piece));
  at_ = end + 1;
  return {};
}

// $'…': backslashes are C's. Only the common escapes are decoded; the text has no literal then.
Result<void> ShellWords::read_ansi_quotes(std::vector<ShellPiece>& pieces) {
  const std::size_t opened = at_;
  at_ += 2;
  ShellPiece piece = piece_at(ShellPiece::Kind::kText, at_, true);
  while (peek() != '\'') {
    if (at_end()) {
      return unclosed("quote $'", opened);
    }
    char c = peek();
    if (c == '\\' && at_ + 1 < text_.size()) {
      ++at_;
      c = peek() == 'n' ? '\n' : peek() == 't' ? '\t' : peek();
    }
    piece.text += c;
    ++at_;
  }
  piece.length = at_ - piece.offset;
  ++at_;
  pieces.push_back(std::move(piece));
  return {};
}

Result<void> ShellWords::read_double_quotes(std::vector<ShellPiece>& pieces, int depth) {
  const std::size_t opened = at_;
  ++at_;
  pieces.push_back(piece_at(ShellPiece::Kind::kText, at_, true));
  while (peek() != '"') {
    if (at_end()) {
      return unclosed("quote \"", opened);
    }
    if (peek() == '\\') {
      read_escape(pieces, true);
    } else if (peek() == '$') {
      SEXTANT_CHECK_OK(read_dollar(pieces, true, depth));
    } else if (peek() == '`') {
      SEXTANT_CHECK_OK(read_backticks(pieces, true));
    } else {
      add_text(pieces, true);
    }
  }
  ++at_;
  return {};
}

Result<std::vector<ShellPiece>> ShellWords::quoted_text(int depth) {
  std::vector<ShellPiece> pieces;
  while (!at_end()) {
    if (peek() == '\\') {
      read_escape(pieces, true);
    } else if (peek() == '$') {
      SEXTANT_CHECK_OK(read_dollar(pieces, true, depth));
    } else if (peek() == '`') {
      SEXTANT_CHECK_OK(read_backticks(pieces, true));
    } else {
      add_text(pieces, true);
    }
  }
  return pieces;
}

// The delimiter of a here-document that opens here ("<<EOF", "<<-'EOF'"); else nothing.
std::string_view ShellWords::here_delimiter() const {
  if (!looking_at("<<") || looking_at("<<<")) {
    return {};
  }
  std::string_view rest = text_.substr(at_ + 2);
  rest.remove_prefix(rest.starts_with('-') ? 1 : 0);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\"'\\"), rest.size()));
  std::size_t length = 0;
  while (length < rest.size() && is_name_character(rest[length])) {
    ++length;
  }
  return length > 0 && is_name_start(rest[0]) ? rest.substr(0, length) : std::string_view();
}

// Over the lines up to the delimiter, where it comes; quotes and brackets in them are text.
void ShellWords::skip_here_text(std::string_view delimiter) {
  for (std::size_t start = at_; start < text_.size();) {
    const std::size_t end = std::min(text_.find('\n', start), text_.size());
    if (trimmed(text_.substr(start, end - start)) == delimiter) {
      at_ = end;
      return;
    }
    start = end + 1;
  }
}

// Over one character, an escaped one with its backslash, a text in single quotes: what it opens is
// awaited, what it closes no longer.
Result<void> ShellWords::skip_inside(std::string& awaited) {
  const bool in_quotes = awaited.back() == '"';
  const char c = peek();
  if (c == '\\') {
    ++at_;
  } else if (c == '\'' && !in_quotes) {
    const std::size_t end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) {
      return unclosed("quote '", at_);
    }
    at_ = end;
  } else if (c == awaited.back()) {
    awaited.pop_back();
  } else if (c == '"') {
    awaited += '"';
  } else if (looking_at("$(") || looking_at("${")) {
    ++at_;
    awaited += peek() == '(' ? ')' : '}';
  } else if (!in_quotes && (c == '(' || c == '[') && awaited.back() == (c == '(' ? ')' : ']')) {
    awaited += awaited.back();
  }
  ++at_;
  return {};
}

// One pass with a stack of the closing characters awaited: brackets in quotes in brackets cost no
// more than their length.
Result<void> ShellWords::skip_to_closing(char close) {
  const std::size_t opened = at_ - 1;
  std::string awaited(1, close);
  std::string_view here;
  int searches = 0;
  while (!awaited.empty()) {
    if (at_end()) {
      return unclosed(fmt::format("bracket {}", text_[opened]), opened);
    }
    constexpr int kMostSearches = 64;  // each may look at the whole text
    if (peek() == '\n' && !here.empty()) {
      ++at_;
      skip_here_text(std::exchange(here, {}));
      ++searches;
      continue;
    }
    if (peek() == '<' && awaited.back() != '"' && here.empty() && searches < kMostSearches) {
      here = here_delimiter();
    }
    SEXTANT_CHECK_OK(skip_inside(awaited));
  }
  at_ = std::min(at_, text_.size());
  return {};
}

Result<void> ShellWords::read_one(std::vector<ShellPiece>& pieces, bool& wrote, int depth) {
  wrote = true;
  switch (peek()) {
    case '\'':
      return read_single_quotes(pieces);
    case '"':
      return read_double_quotes(pieces, depth);
    case '$':
      return read_dollar(pieces, false, depth);
    case '`':
      return read_backticks(pieces, false);
    case '\\':
      read_escape(pieces, false);
      return {};
    default:
      add_text(pieces, false);
      return {};
  }
}

Result<ShellWord> ShellWords::word() {
  ShellWord word;
  word.offset = at_;
  bool wrote = false;
  while (!at_end() && !ends_word(peek())) {
    SEXTANT_CHECK_OK(read_one(word.pieces, wrote, 0));
  }
  word.length = at_ - word.offset;
  if (wrote && word.pieces.empty()) {
    word.pieces.push_back(piece_at(ShellPiece::Kind::kText, word.offset, false));
  }
  return word;
}

}  // namespace sextant::emit
