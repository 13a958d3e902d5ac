#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace sextant {
namespace {

constexpr std::size_t kLongestCompared = 64;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// Length of the valid UTF-8 sequence at `at`, or 0. Table 3-7 of the Unicode standard, version 15.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto in = [](unsigned value, unsigned low, unsigned high) {
    return value >= low && value <= high;
  };
  const unsigned b0 = byte(at);
  const unsigned b1 = byte(at + 1);
  if (b0 == 0) {
    return 0;
  }
  if (b0 < 0x80) {
    return 1;
  }
  const bool tail2 = in(byte(at + 2), 0x80, 0xBF);
  const bool tail3 = in(byte(at + 3), 0x80, 0xBF);
  if (in(b0, 0xC2, 0xDF)) {
    return in(b1, 0x80, 0xBF) ? 2 : 0;
  }
  if (in(b0, 0xE0, 0xEF)) {
    const unsigned low = b0 == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = b0 == 0xED ? 0x9F : 0xBF;
    return in(b1, low, high) && tail2 ? 3 : 0;
  }
  if (in(b0, 0xF0, 0xF4)) {
    const unsigned low = b0 == 0xF0 ? 0x90 : 0x80;
    const unsigned high = b0 == 0xF4 ? 0x8F : 0xBF;
    return in(b1, low, high) && tail2 && tail3 ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return lower;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(at + 1);
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) {
      text += separator;
    }
    text += part;
  }
  return text;
}

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.substr(0, word.size()) == word &&
         (text.size() == word.size() || text[word.size()] == '-');
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
                      text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<double> to_double(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::string with_thousands(std::int64_t value) {
  std::string text = std::to_string(value);
  const std::size_t first_digit = value < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first_digit + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

int edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kLongestCompared);
  b = b.substr(0, kLongestCompared);
  using Row = std::array<int, kLongestCompared + 1>;
  Row before_last{};
  Row last{};
  Row row{};
  for (std::size_t j = 0; j <= b.size(); ++j) {
    last[j] = static_cast<int>(j);
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

std::vector<std::string> nearest_words(std::string_view word,
                                       std::span<const std::string> candidates) {
  constexpr std::size_t kMostSuggested = 3;
  const std::string lower = to_lower(word);
  const int reach = std::max(2, static_cast<int>(lower.size()) / 3);
  std::vector<std::pair<int, std::string>> near;
  for (const std::string& candidate : candidates) {
    const std::string other = to_lower(candidate);
    const bool contains = lower.size() >= 3 && other.find(lower) != std::string::npos;
    const int distance = contains ? 1 : edit_distance(lower, other);
    if (distance <= reach) {
      near.emplace_back(distance, candidate);
    }
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> words;
  for (std::size_t i = 0; i < near.size() && i < kMostSuggested; ++i) {
    words.push_back(near[i].second);
  }
  return words;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::vector<std::string> near = nearest_words(word, candidates);
  return near.empty() ? std::string() : "did you mean " + join(near, " or ") + "?";
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) {
      return at;
    }
    at += length;
  }
  return std::nullopt;
}

namespace {

// Characters beyond ASCII that steer a terminal or turn the text around them: the controls U+0080
// to U+009F (U+009B begins an escape), marks of direction, ends of lines and paragraphs.
bool is_steering(std::string_view character) {
  if (character.size() == 2) {
    const auto last = static_cast<unsigned char>(character[1]);
    return (character[0] == '\xC2' && last < 0xA0) || character == "\xD8\x9C";
  }
  if (character.size() != 3) {
    return false;
  }
  const auto last = static_cast<unsigned char>(character[2]);
  if (character.starts_with("\xE2\x80")) {
    return last == 0x8E || last == 0x8F || (last >= 0xA8 && last <= 0xAE);
  }
  return character.starts_with("\xE2\x81") && last >= 0xA6 && last <= 0xA9;
}

}  // namespace

std::string printable(std::string_view text, std::size_t limit) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    if (safe.size() >= limit) {
      return safe + "…";
    }
    const std::size_t length = utf8_length(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    if (length == 0 || byte < 0x20 || byte == 0x7F || is_steering(text.substr(at, length))) {
      for (const char c : text.substr(at, std::max<std::size_t>(length, 1))) {
        const auto one = static_cast<unsigned char>(c);
        safe += "\\x";
        safe += kHex[one >> 4U];
        safe += kHex[one & 0xFU];
      }
      at += std::max<std::size_t>(length, 1);
    } else {
      safe += text.substr(at, length);
      at += length;
    }
  }
  return safe;
}

LineColumn line_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t last = before.rfind('\n');
  const std::size_t start = last == std::string_view::npos ? 0 : last + 1;
  return {static_cast<std::int64_t>(lines) + 1,
          static_cast<std::int64_t>(before.size() - start) + 1};
}

}  // namespace sextant
