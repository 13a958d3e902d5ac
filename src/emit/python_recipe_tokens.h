// Python text as tokens and logical lines. Bounded; any bytes end in tokens or an Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sextant::emit::python {

enum class TokenKind { kName, kNumber, kString, kOperator };

struct Token {
  TokenKind kind = TokenKind::kOperator;
  std::string_view text;  // of a string: without prefix and quotes, escapes not yet undone
  std::size_t offset = 0;
  std::int64_t line = 1;
  bool plain = true;  // of a string: no f, b or r prefix
};

// A statement: its tokens, and the column it starts in.
struct Line {
  std::vector<Token> tokens;
  std::size_t indent = 0;
};

// Comments are gone, lines inside brackets and after a backslash are joined, statements after ';'
// are lines of their own.
Result<std::vector<Line>> lines_of(std::string_view text, std::string_view where);

// A string's text with its escapes undone.
std::string unescaped(std::string_view text);

}  // namespace sextant::emit::python
