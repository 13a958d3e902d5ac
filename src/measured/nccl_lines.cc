#include "measured/nccl_lines.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace sextant::measured {

namespace {

constexpr std::size_t kLongestLine = 8192;
constexpr int kMostJoined = 3;
constexpr char kEscape = '\x1b';

// A count that fits: at most 18 digits.
bool is_whole(std::string_view word) {
  return !word.empty() && word.size() <= 18 && std::all_of(word.begin(), word.end(), is_digit);
}

// Where the terminal command that begins at `at` ends (ECMA-48: CSI, OSC, else two characters).
std::size_t end_of_escape(std::string_view line, std::size_t at) {
  const char kind = at + 1 < line.size() ? line[at + 1] : '\0';
  std::size_t end = at + 2;
  if (kind == '[') {
    while (end < line.size() && (line[end] < '@' || line[end] > '~')) {
      ++end;
    }
    return end + 1;
  }
  if (kind == ']') {
    while (end < line.size() && line[end] != '\a' && line[end] != kEscape) {
      ++end;
    }
    return end < line.size() && line[end] == kEscape ? end + 2 : end + 1;
  }
  return end;
}

// Without terminal commands; control characters and no-break spaces (U+00A0) become blanks.
std::string cleaned(std::string_view line) {
  std::string out;
  out.reserve(line.size());
  for (std::size_t at = 0; at < line.size();) {
    const char c = line[at];
    if (c == kEscape) {
      at = end_of_escape(line, at);
    } else if (c == '\xC2' && at + 1 < line.size() && line[at + 1] == '\xA0') {
      out += ' ';
      at += 2;
    } else {
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
      ++at;
    }
  }
  return out;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(' '); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(' ', end);
  }
  return words;
}

bool is_dtype(std::string_view word) {
  constexpr std::array<std::string_view, 12> kFamilies{
      "float", "bfloat", "half", "double", "int", "uint", "char", "fp", "bf", "f8", "f16", "f32"};
  constexpr std::size_t kLongest = 16;
  return word.size() <= kLongest &&
         std::any_of(kFamilies.begin(), kFamilies.end(), [&](std::string_view family) {
           return word.substr(0, family.size()) == family;
         });
}

// "# Rank 0 … on host device 0 [0x19]" without the device's name.
bool is_cut_device_line(std::string_view line) {
  if (line.find("Rank ") == std::string_view::npos || line.find("Pid ") == std::string_view::npos) {
    return false;
  }
  const std::size_t bus = line.rfind(']');
  return bus == std::string_view::npos || trimmed(line.substr(bus + 1)).empty();
}

// Whether the terminal broke `line` before `next`.
bool goes_on(std::string_view line, std::string_view next) {
  const std::vector<std::string_view> words = words_of(next);
  if (words.empty()) {
    return false;
  }
  if (is_cut_device_line(line)) {
    return next.find('#') == std::string_view::npos && !dtype_place(words);
  }
  return std::all_of(words.begin(), words.end(), is_cell) && dtype_place(words_of(line));
}

}  // namespace

std::optional<PrintedNumber> printed_number(std::string_view word) {
  PrintedNumber number;
  if (!word.empty() && word.back() == '*') {
    number.starred = true;
    word.remove_suffix(1);
  }
  const auto value = to_double(word);
  if (!value) {
    return std::nullopt;
  }
  number.value = *value;
  const std::size_t power = word.find_first_of("eE");
  const std::string_view mantissa = word.substr(0, power);
  const std::size_t point = mantissa.find('.');
  double last_digit =
      point == std::string_view::npos ? 0.0 : -static_cast<double>(mantissa.size() - point - 1);
  if (power != std::string_view::npos) {
    std::string_view exponent = word.substr(power + 1);
    exponent.remove_prefix(exponent.starts_with('+') ? 1 : 0);
    last_digit += static_cast<double>(to_integer(exponent).value_or(0));
  }
  number.rounding = 0.5 * std::pow(10.0, last_digit);
  return std::isfinite(number.rounding) ? std::optional(number) : std::nullopt;
}

bool is_cell(std::string_view word) {
  return word == "N/A" || printed_number(word).has_value();
}

std::string_view glued_digits(std::string_view word) {
  const std::size_t end = word.find_last_of(":>|]");
  return end == std::string_view::npos ? word : word.substr(end + 1);
}

std::optional<std::size_t> dtype_place(const std::vector<std::string_view>& words) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at].starts_with('#')) {
      return std::nullopt;
    }
    if (at >= 2 && is_dtype(words[at]) && is_whole(words[at - 1]) &&
        is_whole(glued_digits(words[at - 2]))) {
      return at;
    }
  }
  return std::nullopt;
}

bool NcclLines::read_ahead() {
  has_ahead_ = !ended_;
  if (ended_) {
    return false;
  }
  const std::size_t end = rest_.find('\n');
  const std::string_view line = rest_.substr(0, end);
  ended_ = end == std::string_view::npos;
  rest_ = ended_ ? std::string_view() : rest_.substr(end + 1);
  ahead_ = line.size() > kLongestLine ? std::string() : cleaned(line);
  ++ahead_number_;
  return true;
}

bool NcclLines::next() {
  if (!has_ahead_ && !read_ahead()) {
    return false;
  }
  text_ = std::move(ahead_);
  number_ = ahead_number_;
  for (int joined = 0; read_ahead() && joined < kMostJoined && goes_on(text_, ahead_); ++joined) {
    text_ += ' ';
    text_ += ahead_;
  }
  words_ = words_of(text_);
  return true;
}

}  // namespace sextant::measured
