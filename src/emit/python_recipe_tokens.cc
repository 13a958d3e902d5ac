#include "emit/python_recipe_tokens.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"

namespace sextant::emit::python {
namespace {

constexpr Bytes kMostPython = 512_KiB;
constexpr int kMostBrackets = 64;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

class Scanner {
 public:
  Scanner(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  Result<std::vector<Line>> lines() && {
    while (at_ < text_.size()) {
      if (!step()) {
        return invalid("brackets nest too deeply", fmt::format("{}:{}", where_, line_),
                       fmt::format("{} levels", kMostBrackets));
      }
    }
    end_line();
    return std::move(lines_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  // One token, or one piece of white space. False: nested too deeply.
  bool step() {
    const char c = peek();
    if (c == '\n') {
      newline();
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      at_ += peek(1) == '\r' ? std::size_t{3} : std::size_t{2};
      line_ += 1;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
      at_ += 1;
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == ';' && brackets_ == 0) {
      const std::size_t indent = line_indent_;
      end_line();
      line_indent_ = indent;
      joined_ = true;
      at_ += 1;
    } else if (const std::size_t quote = quote_after_prefix(); quote != std::string_view::npos) {
      string(quote);
    } else if (is_letter(c)) {
      take(TokenKind::kName, [](char d) { return is_letter(d) || is_digit(d); });
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else {
      return symbol();
    }
    return true;
  }

  void newline() {
    if (brackets_ == 0) {
      end_line();
      joined_ = false;
    }
    at_ += 1;
    line_ += 1;
    if (brackets_ == 0) {
      line_start_ = at_;
    }
  }

  void end_line() {
    if (!current_.empty()) {
      lines_.push_back({std::move(current_), line_indent_});
      current_.clear();
    }
  }

  void push(Token token) {
    if (current_.empty() && !joined_) {
      line_indent_ = token.offset - line_start_;
    }
    current_.push_back(token);
  }

  template <typename Belongs>
  void take(TokenKind kind, Belongs belongs) {
    const std::size_t start = at_;
    while (at_ < text_.size() && belongs(text_[at_])) {
      at_ += 1;
    }
    push({kind, text_.substr(start, at_ - start), start, line_});
  }

  void number() {
    const std::size_t start = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool sign = (c == '+' || c == '-') && at_ > start &&
                        (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E') &&
                        text_.substr(start, 2) != "0x";
      if (!is_letter(c) && !is_digit(c) && c != '.' && !sign) {
        break;
      }
      at_ += 1;
    }
    push({TokenKind::kNumber, text_.substr(start, at_ - start), start, line_});
  }

  // Where a string opens here, the place of its quote.
  [[nodiscard]] std::size_t quote_after_prefix() const {
    constexpr std::size_t kLongestPrefix = 2;
    for (std::size_t i = 0; i <= kLongestPrefix; ++i) {
      const char c = peek(i);
      if (c == '"' || c == '\'') {
        return at_ + i;
      }
      if (std::string_view("rRbBfFuU").find(c) == std::string_view::npos || c == '\0') {
        break;
      }
    }
    return std::string_view::npos;
  }

  void string(std::size_t quote) {
    const std::string_view prefix = text_.substr(at_, quote - at_);
    const char mark = text_[quote];
    const std::size_t marks = text_.substr(quote, 3) == std::string(3, mark) ? 3 : 1;
    const std::size_t start = quote + marks;
    std::size_t end = start;
    const std::int64_t line = line_;
    while (end < text_.size() && text_.substr(end, marks) != std::string(marks, mark)) {
      if (text_[end] == '\n') {
        if (marks == 1) {
          break;  // never closed
        }
        line_ += 1;
      }
      if (text_[end] == '\\' && end + 1 < text_.size()) {
        end += 1;
        line_ += text_[end] == '\n' ? 1 : 0;
      }
      end += 1;
    }
    end = std::min(end, text_.size());
    const bool plain = prefix.empty() || prefix == "u" || prefix == "U";
    push({TokenKind::kString, text_.substr(start, end - start), start, line, plain});
    const bool closed = end < text_.size() && text_[end] == mark;
    at_ = std::min(end + (closed ? marks : 0), text_.size());
  }

  bool symbol() {
    static constexpr auto kLong =
        std::to_array<std::string_view>({"**=", "//=", "**", "//", "==", "!=", "<=", ">=", "->",
                                         "+=", "-=", "*=", "/=", "%=", ":=", "..."});
    std::size_t length = 1;
    for (const std::string_view word : kLong) {
      if (text_.substr(at_, word.size()) == word) {
        length = word.size();
        break;
      }
    }
    const char c = peek();
    if (c == '(' || c == '[' || c == '{') {
      brackets_ += 1;
    } else if (c == ')' || c == ']' || c == '}') {
      brackets_ = std::max(0, brackets_ - 1);
    }
    push({TokenKind::kOperator, text_.substr(at_, length), at_, line_});
    at_ += length;
    return brackets_ <= kMostBrackets;
  }

  std::string_view text_;
  std::string_view where_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  std::size_t line_start_ = 0;
  std::size_t line_indent_ = 0;
  bool joined_ = false;  // the statement follows a ';'
  int brackets_ = 0;
  std::vector<Token> current_;
  std::vector<Line> lines_;
};

}  // namespace

Result<std::vector<Line>> lines_of(std::string_view text, std::string_view where) {
  SEXTANT_CHECK_OK(checked_text(text, kMostPython, where));
  return Scanner(text, where).lines();
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    i += 1;
    switch (text[i]) {
      case 'n':
        plain += '\n';
        break;
      case 't':
        plain += '\t';
        break;
      case 'r':
        plain += '\r';
        break;
      case '\n':
        break;
      case '\\':
      case '\'':
      case '"':
        plain += text[i];
        break;
      default:
        plain += '\\';
        plain += text[i];
    }
  }
  return plain;
}

}  // namespace sextant::emit::python
