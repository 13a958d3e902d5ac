// Pieces of text in a training log: numbers, labelled fields, printed values. Logs are taken as
// they come: with colours, rank prefixes and whatever else the launcher put in front.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::emit {

// The longest name of a setting that is read, in bytes.
inline constexpr std::size_t kLongestKey = 128;

// The number a text begins with (after blanks), and what follows it. Thousands may be set off by
// commas ("7,132"). No number: NaN, infinities, words.
struct LeadingNumber {
  double value = 0.0;
  std::string_view rest;
};
std::optional<LeadingNumber> leading_number(std::string_view text);

// "1.23K" → 1230: K, M, B (or G) and T are powers of a thousand.
std::optional<double> scaled_number(std::string_view text);

// A whole number that a text begins with.
std::optional<std::int64_t> leading_integer(std::string_view text);

bool has_text(std::string_view line, std::string_view words);
// What follows the first `label` that begins a word: "size:" is not found in "batch-size: 8".
std::optional<std::string_view> text_after(std::string_view line, std::string_view label);
// The number that follows the label.
std::optional<double> number_after(std::string_view line, std::string_view label);
std::optional<std::int64_t> integer_after(std::string_view line, std::string_view label);

// The line without terminal colours; `room` holds the text where it had any.
std::string_view without_colours(std::string_view line, std::string& room);

// The line without a launcher's rank: "[rank0]:", "[default3]:", "0: ", "[1,0]<stdout>:".
std::string_view without_rank(std::string_view line);

// A value as Python prints it: True is "true", ['a', 'b'] is two values; nothing for None, an empty
// list, an empty text, or one longer than any setting.
std::optional<std::vector<std::string>> printed_values(std::string_view text);
// One such value: quotes off, True and False in small letters; nothing for None and null.
std::optional<std::string> printed_value(std::string_view text);

}  // namespace sextant::emit
