#include "profile/decimal_time.h"

#include <algorithm>

#include "base/text.h"

namespace sextant::profile {
namespace {

constexpr std::int64_t kFarthestTime = (std::int64_t{1} << 62U) - 1;
constexpr int kMostExponent = 40;  // beyond it a time is out of range, or none

// Digits before and behind the point, and the power of ten they are to be multiplied with.
struct Decimal {
  std::string_view whole, fraction;
  int exponent = 0;
};

std::string_view take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) {
    ++count;
  }
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

std::optional<Decimal> decimal_of(std::string_view text) {
  Decimal number;
  number.whole = take_digits(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    number.fraction = take_digits(text);
  }
  if (number.whole.empty()) {
    return std::nullopt;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+')) {
      text.remove_prefix(1);
    }
    const auto exponent = to_integer(text);
    if (!exponent || *exponent > kMostExponent || *exponent < -kMostExponent) {
      return std::nullopt;
    }
    number.exponent = static_cast<int>(*exponent);
    text = {};
  }
  return text.empty() ? std::optional(number) : std::nullopt;
}

// The number times ten to the power of nine (its sixth decimal of a nanosecond is the last digit).
std::optional<ExactTime> shifted(const Decimal& number) {
  constexpr int kNanoPlaces = 3;  // of a microsecond's decimals, those that are whole nanoseconds
  constexpr int kAllPlaces = 9;
  std::int64_t ns = 0;
  std::int64_t millionths = 0;
  // The digit at `place` counts 10^-place nanoseconds' thousandfold: place 0 is the last before the
  // point.
  const auto whole = static_cast<int>(number.whole.size());
  const auto all = whole + static_cast<int>(number.fraction.size());
  const int from = -(whole - 1) - number.exponent;
  for (int place = from; place <= kAllPlaces; ++place) {
    const int index = place - from;
    if (place <= kNanoPlaces && index >= all && ns == 0) {
      return ExactTime{};
    }
    const char digit =
        index >= all ? '0'
                     : (index < whole ? number.whole[static_cast<std::size_t>(index)]
                                      : number.fraction[static_cast<std::size_t>(index - whole)]);
    if (place <= kNanoPlaces) {
      if (ns > (kFarthestTime - (digit - '0')) / 10) {
        return std::nullopt;
      }
      ns = ns * 10 + (digit - '0');
    } else {
      // Digits that begin behind the decimals of a nanosecond leave zeros before them.
      millionths = millionths * 10 + (digit - '0');
    }
  }
  return ExactTime{ns, millionths};
}

// Up to sixteen digits and three decimals, as nearly all are.
std::optional<ExactTime> plain(std::string_view text) {
  constexpr std::size_t kMostDigits = 16;
  constexpr std::size_t kMostDecimals = 3;
  std::int64_t value = 0;
  std::size_t at = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    value = value * 10 + (text[at] - '0');
    if (at >= kMostDigits) {
      return std::nullopt;
    }
  }
  if (at == 0 || value >= kFarthestTime / 1000 || (at < text.size() && text[at] != '.')) {
    return std::nullopt;
  }
  std::size_t decimals = 0;
  for (++at; at < text.size() && is_digit(text[at]); ++at, ++decimals) {
    if (decimals == kMostDecimals) {
      return std::nullopt;
    }
    value = value * 10 + (text[at] - '0');
  }
  if (at < text.size()) {
    return std::nullopt;
  }
  for (; decimals < kMostDecimals; ++decimals) {
    value *= 10;
  }
  return ExactTime{value, 0};
}

}  // namespace

std::optional<ExactTime> exact_microseconds(std::string_view text) {
  if (const auto time = plain(text)) {
    return time;
  }
  const bool is_negative = text.starts_with('-');
  if (is_negative) {
    text.remove_prefix(1);
  }
  const auto number = decimal_of(text);
  auto time = number ? shifted(*number) : std::nullopt;
  if (time && is_negative) {
    const bool has_rest = time->millionths != 0;
    *time = {-time->ns - (has_rest ? 1 : 0), has_rest ? 1'000'000 - time->millionths : 0};
  }
  return time;
}

}  // namespace sextant::profile
