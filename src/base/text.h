// Small text helpers: splitting, case, nearest words, numbers in and out. ASCII rules throughout.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

std::string to_lower(std::string_view text);
std::string_view trimmed(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
bool starts_with_word(std::string_view text, std::string_view word);  // word, then end or '-'
bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words);
// Without the pair of single or double quotes that it stands in.
std::string_view unquoted(std::string_view text);
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Whole-text conversions: "12x" and "" are nothing, as are NaN, infinities and overflow.
std::optional<std::int64_t> to_integer(std::string_view text);
std::optional<double> to_double(std::string_view text);

// 1234567 → "1,234,567".
std::string with_thousands(std::int64_t value);

// Edits (insert, delete, replace, swap neighbours) that turn a into b. Both are cut at 64
// characters.
int edit_distance(std::string_view a, std::string_view b);

// The candidates within a third of the word's length (at least 2 edits), nearest first, at most
// three.
std::vector<std::string> nearest_words(std::string_view word,
                                       std::span<const std::string> candidates);

// "did you mean a or b?" or "".
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

// Byte offset of the first sequence that is not UTF-8 (or is a NUL byte); nothing if all is well.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

// Text fit for a message: controls, marks of direction and invalid bytes as \xNN, cut at `limit`.
std::string printable(std::string_view text, std::size_t limit = 80);

// 1-based line and column of a byte offset.
struct LineColumn {
  std::int64_t line = 1;
  std::int64_t column = 1;
};
LineColumn line_column(std::string_view text, std::size_t offset);

}  // namespace sextant
