// What `$` and backticks begin: variables, ${…} and its operations, $((…)) and commands.
#include <utility>

#include "emit/shell_characters.h"
#include "emit/shell_words.h"

namespace sextant::emit {
namespace {

constexpr std::string_view kSpecialNames = "@*#?$!-";

}  // namespace

Result<void> ShellWords::read_backticks(std::vector<ShellPiece>& pieces, bool quoted) {
  const std::size_t opened = at_;
  const std::size_t end = text_.find('`', at_ + 1);
  if (end == std::string_view::npos) {
    return unclosed("quote `", opened);
  }
  ShellPiece piece = piece_at(ShellPiece::Kind::kCommand, opened, quoted);
  piece.text = text_.substr(opened + 1, end - opened - 1);
  at_ = end + 1;
  piece.length = at_ - opened;
  pieces.push_back(std::move(piece));
  return {};
}

Result<void> ShellWords::read_command(std::vector<ShellPiece>& pieces, bool quoted) {
  const std::size_t opened = at_;
  at_ += 2;
  SEXTANT_CHECK_OK(skip_to_closing(')'));
  ShellPiece piece = piece_at(ShellPiece::Kind::kCommand, opened, quoted);
  piece.text = text_.substr(opened + 2, at_ - opened - 3);
  piece.length = at_ - opened;
  pieces.push_back(std::move(piece));
  return {};
}

Result<void> ShellWords::read_arithmetic(std::vector<ShellPiece>& pieces, bool quoted, int depth) {
  const std::size_t opened = at_;
  at_ += 3;
  SEXTANT_CHECK_OK(skip_to_closing(')'));
  if (peek() != ')') {
    at_ = opened;  // "$((…) …)": a command whose first word is a subshell
    return read_command(pieces, quoted);
  }
  ++at_;
  ShellPiece piece = piece_at(ShellPiece::Kind::kArithmetic, opened, quoted);
  piece.length = at_ - opened;
  piece.text = text_.substr(opened, piece.length);
  ShellWords inside(text_.substr(0, at_ - 2), name_);
  inside.skip(opened + 3);
  SEXTANT_TRY(piece.operand, inside.quoted_text(depth + 1));
  pieces.push_back(std::move(piece));
  return {};
}

// Behind the operation: a word of its own, up to the brace that closes.
Result<void> ShellWords::read_operand(ShellPiece& piece, bool quoted, int depth) {
  while (peek() != '}') {
    if (at_end()) {
      return unclosed("substitution ${", piece.offset);
    }
    if (peek() == '"') {
      SEXTANT_CHECK_OK(read_double_quotes(piece.operand, depth + 1));
    } else if (peek() == '\'' && !quoted) {
      SEXTANT_CHECK_OK(read_single_quotes(piece.operand));
    } else if (peek() == '\\') {
      read_escape(piece.operand, quoted);
    } else if (peek() == '$') {
      SEXTANT_CHECK_OK(read_dollar(piece.operand, quoted, depth + 1));
    } else if (peek() == '`') {
      SEXTANT_CHECK_OK(read_backticks(piece.operand, quoted));
    } else {
      add_text(piece.operand, quoted);
    }
  }
  ++at_;
  return {};
}

Result<void> ShellWords::read_braces(std::vector<ShellPiece>& pieces, bool quoted, int depth) {
  ShellPiece piece = piece_at(ShellPiece::Kind::kVariable, at_, quoted);
  at_ += 2;
  if (peek() == '#' && peek(1) != '}') {
    piece.counts = true;
    ++at_;
  }
  if (is_name_character(peek())) {
    for (; is_name_character(peek()); ++at_) {
      piece.text += peek();
    }
  } else if (!at_end() && kSpecialNames.find(peek()) != std::string_view::npos) {
    piece.text = peek();
    ++at_;
  }
  if (peek() == '[') {
    const std::size_t opened = ++at_;
    SEXTANT_CHECK_OK(skip_to_closing(']'));
    piece.index = text_.substr(opened, at_ - opened - 1);
  }
  constexpr std::string_view kOperations = "-=+?";
  const std::size_t colon = peek() == ':' ? 1 : 0;
  const char sign = peek(colon);
  if (!at_end() && peek() != '}' && sign != '\0' &&
      kOperations.find(sign) != std::string_view::npos && !piece.text.empty() &&
      piece.text != "!") {
    piece.operation = text_.substr(at_, colon + 1);
    at_ += colon + 1;
  } else if (peek() != '}') {
    piece.operation = "other";
  }
  SEXTANT_CHECK_OK(read_operand(piece, quoted, depth));
  piece.length = at_ - piece.offset;
  if (piece.text.empty()) {
    piece.operation = "other";
  }
  pieces.push_back(std::move(piece));
  return {};
}

Result<void> ShellWords::read_dollar(std::vector<ShellPiece>& pieces, bool quoted, int depth) {
  if (depth >= kMaxShellDepth) {
    return too_deep();
  }
  if (looking_at("$((")) {
    return read_arithmetic(pieces, quoted, depth);
  }
  if (looking_at("$(")) {
    return read_command(pieces, quoted);
  }
  if (looking_at("${")) {
    return read_braces(pieces, quoted, depth);
  }
  if (!quoted && looking_at("$'")) {
    return read_ansi_quotes(pieces);
  }
  if (!quoted && looking_at("$\"")) {
    ++at_;
    return read_double_quotes(pieces, depth);
  }
  const char next = peek(1);
  const bool special =
      next != '\0' && (is_digit(next) || kSpecialNames.find(next) != std::string_view::npos);
  if (!special && !is_name_start(next)) {
    add_text(pieces, quoted);
    return {};
  }
  ShellPiece piece = piece_at(ShellPiece::Kind::kVariable, at_, quoted);
  ++at_;
  do {
    piece.text += peek();
    ++at_;
  } while (!special && is_name_character(peek()));
  piece.length = at_ - piece.offset;
  pieces.push_back(std::move(piece));
  return {};
}

}  // namespace sextant::emit
