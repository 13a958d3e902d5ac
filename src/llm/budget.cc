#include "llm/budget.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::llm {
namespace {

constexpr double kMillion = 1e6;
constexpr double kMostTokens = 1e12;
constexpr std::int64_t kLeastShare = 16;
constexpr std::size_t kBytesPerToken = 3;

std::optional<std::int64_t> token_count(std::string_view word) {
  double factor = 1.0;
  if (word.ends_with('k') || word.ends_with('K')) {
    factor = 1e3;
  } else if (word.ends_with('M')) {
    factor = kMillion;
  }
  if (factor > 1.0) {
    word.remove_suffix(1);
  }
  const std::optional<double> number = to_double(word);
  if (!number || *number * factor < 1.0 || *number * factor > kMostTokens) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number * factor);
}

std::optional<Dollars> money_of(std::string_view word) {
  if (word.ends_with("USD")) {
    word.remove_suffix(3);
  } else if (word.starts_with('$')) {
    word.remove_prefix(1);
  } else {
    return std::nullopt;
  }
  const std::optional<double> number = to_double(trimmed(word));
  return number && *number > 0.0 ? std::optional(Dollars(*number)) : std::nullopt;
}

Result<Price> parse_price(const BudgetWords& words) {
  const auto parts = split(words.price, '/');
  const auto input = to_double(trimmed(parts.front()));
  const auto output = to_double(trimmed(parts.back()));
  if (parts.size() != 2 || !input || !output || *input < 0.0 || *output < 0.0) {
    return invalid(fmt::format("'{}' is no price", printable(words.price)), words.price_name,
                   "dollars for a million tokens in and out: 3/15");
  }
  return Price{.input = Dollars(*input), .output = Dollars(*output)};
}

}  // namespace

Result<Budget> parse_budget(const BudgetWords& words) {
  Budget budget;
  if (!words.price.empty()) {
    SEXTANT_TRY(budget.price, parse_price(words));
  }
  for (const std::string_view part : split(words.budget, ',')) {
    const std::string_view word = trimmed(part);
    if (const auto money = money_of(word)) {
      budget.money = money;
    } else if (const auto tokens = token_count(word)) {
      budget.tokens = tokens;
    } else {
      return invalid(fmt::format("'{}' is no budget", printable(words.budget)), words.budget_name,
                     "tokens (200k), dollars (0.50USD), or both with a comma");
    }
  }
  if (budget.money && !budget.price) {
    return invalid("money cannot be held without a price of tokens", words.budget_name,
                   fmt::format("{} 3/15 beside it (dollars for a million tokens in and out)",
                               words.price_name));
  }
  return budget;
}

std::int64_t estimated_tokens(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + kBytesPerToken - 1) / kBytesPerToken);
}

std::optional<std::int64_t> Spending::most_output(std::int64_t input, std::int64_t most) const {
  std::int64_t left = most;
  if (budget_.tokens) {
    left = std::min(left, *budget_.tokens - used_.input - used_.output - input);
  }
  if (budget_.money && budget_.price) {
    const Dollars spent = money().value_or(Dollars());
    const Dollars rest =
        *budget_.money - spent - budget_.price->input * (static_cast<double>(input) / kMillion);
    if (rest < Dollars()) {
      return std::nullopt;
    }
    if (budget_.price->output > Dollars()) {
      const double tokens = rest / budget_.price->output * kMillion;
      left = std::min(left, static_cast<std::int64_t>(std::min(tokens, kMostTokens)));
    }
  }
  if (left < std::max<std::int64_t>(1, most / kLeastShare)) {
    return std::nullopt;
  }
  return left;
}

void Spending::add(const Usage& usage) {
  used_.input += usage.input;
  used_.output += usage.output;
  used_.is_estimated = used_.is_estimated || usage.is_estimated;
  requests_ += 1;
}

std::optional<Dollars> Spending::money() const {
  if (!budget_.price) {
    return std::nullopt;
  }
  return budget_.price->input * (static_cast<double>(used_.input) / kMillion) +
         budget_.price->output * (static_cast<double>(used_.output) / kMillion);
}

std::string Spending::to_text() const {
  const std::optional<Dollars> spent = money();
  return fmt::format("{}{} tokens in and {} out in {} request{}{}",
                     used_.is_estimated ? "about " : "", with_thousands(used_.input),
                     with_thousands(used_.output), requests_, requests_ == 1 ? "" : "s",
                     spent ? fmt::format(", {:.4f} USD", spent->base()) : "");
}

}  // namespace sextant::llm
