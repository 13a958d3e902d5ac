#include "app/training_run.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::app {
namespace {

constexpr double kMostTokens = 1e18;
constexpr double kMostPrice = 1e9;

Result<double> parse_tokens(std::string_view text) {
  constexpr std::array<std::pair<char, double>, 4> kSuffixes{
      {{'T', 1e12}, {'B', 1e9}, {'M', 1e6}, {'K', 1e3}}};
  std::string_view digits = trimmed(text);
  double scale = 1.0;
  for (const auto& [letter, value] : kSuffixes) {
    if (!digits.empty() && (digits.back() == letter || digits.back() == letter - 'A' + 'a')) {
      scale = value;
      digits = trimmed(digits.substr(0, digits.size() - 1));
      break;
    }
  }
  const auto number = to_double(digits);
  if (!number || *number * scale < 1.0 || *number * scale > kMostTokens) {
    return invalid(fmt::format("'{}' is not a number of tokens", printable(text)), "‹tokens›",
                   "a number from 1 to 10^18, with T, B, M or K: 15T, 300B");
  }
  return *number * scale;
}

Result<std::optional<double>> parse_price(std::string_view text) {
  if (text.empty()) {
    return std::optional<double>();
  }
  const auto price = to_double(trimmed(text));
  if (!price || *price < 0.0 || *price > kMostPrice) {
    return invalid(fmt::format("'{}' is not a price of a device-hour", printable(text)), "‹price›",
                   "a number from 0 to 10^9: 2.5");
  }
  return price;
}

}  // namespace

Result<std::optional<step::TrainingWish>> training_wish(const TrainingRequest& request) {
  step::TrainingWish wish;
  SEXTANT_TRY(wish.price, parse_price(request.price));
  if (request.tokens.empty()) {
    return request.price.empty()
               ? Result<std::optional<step::TrainingWish>>()
               : invalid("a price alone costs nothing", "‹price›", "with ‹tokens›: 15T, 300B");
  }
  SEXTANT_TRY(wish.tokens, parse_tokens(request.tokens));
  return std::optional(wish);
}

}  // namespace sextant::app
