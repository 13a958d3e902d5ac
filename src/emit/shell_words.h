// Words of a bash script as they are written: quotes taken off, variables still variables. Nothing
// is run and nothing is looked up; what a word comes to is known to emit/shell_state.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sextant::emit {

// How deep quotes, substitutions and defaults may stand in each other.
inline constexpr int kMaxShellDepth = 32;

// A run of text, or one thing to be put in its place.
struct ShellPiece {
  enum class Kind { kText, kVariable, kArithmetic, kCommand };
  Kind kind = Kind::kText;
  // The text, the variable's name, or the command. Text of `length` bytes stands in the script just
  // so; where text and length differ, an escape was decoded.
  std::string text;
  std::size_t offset = 0;  // bytes from the script's start; of text: behind the quote
  std::size_t length = 0;
  bool quoted = false;
  // Of variables: "@", "*" or what stands in the brackets of ${A[2]}; ${#A}; and what follows the
  // name, ":-", "-", ":=", "=", ":+", "+", ":?", "?" ("other": anything else).
  std::string index;
  bool counts = false;
  std::string operation;
  // The word behind the operation; of arithmetic, the expression.
  std::vector<ShellPiece> operand;
};

// One without text yet.
ShellPiece piece_at(ShellPiece::Kind kind, std::size_t offset, bool quoted);

struct ShellWord {
  std::vector<ShellPiece> pieces;
  std::size_t offset = 0;
  std::size_t length = 0;
};

// The word as the script has it.
std::string_view as_written(const ShellWord& word, std::string_view script);
// Its text where it is one run of unquoted text, as keywords are; else "".
std::string_view plain_text(const ShellWord& word);

bool is_shell_name(std::string_view text);

// Reads words from a script, from left to right.
class ShellWords {
 public:
  // REQUIRES: the text outlives the reader. `name`: the file, for errors.
  ShellWords(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  // The character `ahead` places on; NUL past the end.
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool looking_at(std::string_view what) const {
    return text_.substr(at_ < text_.size() ? at_ : text_.size()).starts_with(what);
  }
  [[nodiscard]] std::string_view text() const { return text_; }
  void skip(std::size_t count) { at_ += count; }
  // Over blanks, continued line ends and a comment, to the next word, operator or line end.
  void skip_blanks();
  // "file:line" of an offset.
  [[nodiscard]] std::string where(std::size_t offset) const;

  // The word that starts here. Empty pieces: an operator or a line end stands here. An Error where
  // a quote or a substitution is never closed, or where they stand too deep.
  Result<ShellWord> word();
  // The pieces up to the end of the text, as between double quotes: what $((…)) and here-strings
  // hold.
  Result<std::vector<ShellPiece>> quoted_text(int depth);
  // To behind the bracket that closes the one just read; quotes inside are honoured.
  Result<void> skip_to_closing(char close);

 private:
  Result<void> read_single_quotes(std::vector<ShellPiece>& pieces);
  Result<void> read_ansi_quotes(std::vector<ShellPiece>& pieces);
  Result<void> read_double_quotes(std::vector<ShellPiece>& pieces, int depth);
  Result<void> read_dollar(std::vector<ShellPiece>& pieces, bool quoted, int depth);
  Result<void> read_braces(std::vector<ShellPiece>& pieces, bool quoted, int depth);
  Result<void> read_operand(ShellPiece& piece, bool quoted, int depth);
  Result<void> read_arithmetic(std::vector<ShellPiece>& pieces, bool quoted, int depth);
  Result<void> read_command(std::vector<ShellPiece>& pieces, bool quoted);
  Result<void> read_backticks(std::vector<ShellPiece>& pieces, bool quoted);
  Result<void> read_one(std::vector<ShellPiece>& pieces, bool& wrote, int depth);
  Result<void> skip_inside(std::string& awaited);
  void read_escape(std::vector<ShellPiece>& pieces, bool quoted);
  [[nodiscard]] std::string_view here_delimiter() const;
  void skip_here_text(std::string_view delimiter);
  void add_text(std::vector<ShellPiece>& pieces, bool quoted);
  [[nodiscard]] tl::unexpected<Error> unclosed(std::string_view what, std::size_t opened) const;
  [[nodiscard]] tl::unexpected<Error> too_deep() const;

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
};

}  // namespace sextant::emit
