#include "emit/log_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace sextant::emit {
namespace {

constexpr std::size_t kLongestNumber = 64;
constexpr std::size_t kLongestValue = 16384;

constexpr bool is_label_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

// A comma belongs to the number where exactly three digits follow it.
bool is_thousands_comma(std::string_view text, std::size_t at) {
  return text.size() > at + 3 && is_digit(text[at + 1]) && is_digit(text[at + 2]) &&
         is_digit(text[at + 3]) && (text.size() == at + 4 || !is_digit(text[at + 4]));
}

// Where an exponent that begins at `at` ends; `at` itself where there is none.
std::size_t exponent_end(std::string_view text, std::size_t at) {
  if (at >= text.size() || (text[at] != 'e' && text[at] != 'E')) {
    return at;
  }
  std::size_t end = at + 1;
  if (end < text.size() && (text[end] == '+' || text[end] == '-')) {
    ++end;
  }
  if (end >= text.size() || !is_digit(text[end])) {
    return at;
  }
  while (end < text.size() && is_digit(text[end])) {
    ++end;
  }
  return end;
}

// The text of the number without its commas, and where it ends.
struct NumberText {
  std::array<char, kLongestNumber> digits{};
  std::size_t size = 0;
  std::size_t end = 0;

  bool add(char c) {
    if (size == digits.size()) {
      return false;
    }
    digits.at(size++) = c;
    return true;
  }
};

std::optional<NumberText> number_text(std::string_view text) {
  NumberText number;
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) {
    if (text[at] == '-') {
      number.add('-');
    }
    ++at;
  }
  bool point = false;
  for (; at < text.size(); ++at) {
    const bool comma = text[at] == ',' && !point && is_thousands_comma(text, at);
    const bool dot = text[at] == '.' && !point;
    if (!is_digit(text[at]) && !comma && !dot) {
      break;
    }
    point = point || dot;
    if (!comma && !number.add(text[at])) {
      return std::nullopt;
    }
  }
  const std::size_t end = exponent_end(text, at);
  for (; at < end; ++at) {
    if (text[at] != '+' && !number.add(text[at])) {
      return std::nullopt;
    }
  }
  number.end = end;
  return number;
}

double scale_of(char suffix) {
  switch (suffix) {
    case 'K':
      return 1e3;
    case 'M':
      return 1e6;
    case 'B':
    case 'G':
      return 1e9;
    case 'T':
      return 1e12;
    default:
      return 1.0;
  }
}

// The end of "[rank0]:", "0:", "[1,0]<stdout>:" at the start of a line; 0 where there is none.
std::size_t rank_end(std::string_view line) {
  const std::size_t colon = line.substr(0, 24).find(':');
  if (colon == std::string_view::npos || colon == 0) {
    return 0;
  }
  std::string_view mark = line.substr(0, colon);
  if (mark.ends_with("<stdout>") || mark.ends_with("<stderr>")) {
    return colon + 1;
  }
  if (mark.front() == '[' && mark.back() == ']') {
    mark = mark.substr(1, mark.size() - 2);
  }
  for (const std::string_view word : {"rank", "default"}) {
    if (mark.starts_with(word)) {
      mark.remove_prefix(word.size());
    }
  }
  for (const char c : mark) {
    if (!is_digit(c)) {
      return 0;
    }
  }
  // "12:30:05" is a time of day.
  const bool time_of_day = colon + 1 < line.size() && is_digit(line[colon + 1]);
  return mark.empty() || time_of_day ? 0 : colon + 1;
}

bool is_flat_list(std::string_view text) {
  const bool square = text.starts_with('[') && text.ends_with(']');
  const bool round = text.starts_with('(') && text.ends_with(')');
  return (square || round) &&
         text.substr(1, text.size() - 2).find_first_of("[](){}") == std::string_view::npos;
}

}  // namespace

std::optional<LeadingNumber> leading_number(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(start);
  const std::optional<NumberText> number = number_text(text);
  if (!number || number->size == 0) {
    return std::nullopt;
  }
  double value = 0.0;
  const char* const last = number->digits.data() + number->size;
  const auto [end, error] = std::from_chars(number->digits.data(), last, value);
  if (error != std::errc{} || end != last || !std::isfinite(value)) {
    return std::nullopt;
  }
  return LeadingNumber{value, text.substr(number->end)};
}

std::optional<double> scaled_number(std::string_view text) {
  const std::optional<LeadingNumber> number = leading_number(text);
  if (!number) {
    return std::nullopt;
  }
  return number->rest.empty() ? number->value : number->value * scale_of(number->rest.front());
}

std::optional<std::int64_t> leading_integer(std::string_view text) {
  constexpr double kLargest = 9e15;  // whole numbers are exact in a double below 2^53
  const std::optional<LeadingNumber> number = leading_number(text);
  if (!number || number->value != std::floor(number->value) || std::abs(number->value) > kLargest) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(number->value);
}

bool has_text(std::string_view line, std::string_view words) {
  return line.find(words) != std::string_view::npos;
}

std::optional<std::string_view> text_after(std::string_view line, std::string_view label) {
  for (std::size_t at = line.find(label); at != std::string_view::npos;
       at = line.find(label, at + 1)) {
    if (at == 0 || !is_label_character(line[at - 1])) {
      return line.substr(at + label.size());
    }
  }
  return std::nullopt;
}

std::optional<double> number_after(std::string_view line, std::string_view label) {
  const std::optional<std::string_view> rest = text_after(line, label);
  const std::optional<LeadingNumber> number = rest ? leading_number(*rest) : std::nullopt;
  return number ? std::optional(number->value) : std::nullopt;
}

std::optional<std::int64_t> integer_after(std::string_view line, std::string_view label) {
  const std::optional<std::string_view> rest = text_after(line, label);
  return rest ? leading_integer(*rest) : std::nullopt;
}

std::string_view without_colours(std::string_view line, std::string& room) {
  if (line.find('\x1b') == std::string_view::npos) {
    return line;
  }
  room.clear();
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] != '\x1b') {
      room += line[at++];
      continue;
    }
    ++at;
    if (at < line.size() && line[at] == '[') {
      // Parameters and intermediates end at a letter (ECMA-48: 0x40 to 0x7e).
      do {
        ++at;
      } while (at < line.size() && (line[at] < '@' || line[at] > '~'));
      at = std::min(at + 1, line.size());
    }
  }
  return room;
}

std::string_view without_rank(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos) {
    return line;
  }
  const std::size_t end = rank_end(line.substr(start));
  return end == 0 ? line : line.substr(start + end);
}

std::optional<std::string> printed_value(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || text == "None" || text == "null" || text.size() > kLongestValue) {
    return std::nullopt;
  }
  if (text == "True") {
    return "true";
  }
  if (text == "False") {
    return "false";
  }
  return std::string(unquoted(text));
}

std::optional<std::vector<std::string>> printed_values(std::string_view text) {
  text = trimmed(text);
  if (text.size() > kLongestValue) {
    return std::nullopt;
  }
  std::vector<std::string> values;
  if (is_flat_list(text)) {
    for (const std::string_view part : split(text.substr(1, text.size() - 2), ',')) {
      if (auto value = printed_value(part)) {
        values.push_back(std::move(*value));
      }
    }
  } else if (auto value = printed_value(text)) {
    values.push_back(std::move(*value));
  }
  return values.empty() ? std::nullopt : std::optional(std::move(values));
}

}  // namespace sextant::emit
