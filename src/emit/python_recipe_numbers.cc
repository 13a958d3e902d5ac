#include "emit/python_recipe_numbers.h"

#include <cmath>
#include <string>

#include "base/text.h"

namespace sextant::emit::python {
namespace {

// base to the power, or nothing where it does not fit.
std::optional<std::int64_t> whole_power(std::int64_t base, std::int64_t exponent) {
  constexpr std::int64_t kMostSteps = 64;
  if (exponent < 0 || exponent > kMostSteps) {
    return std::nullopt;
  }
  std::int64_t product = 1;
  for (std::int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(product, base, &product)) {
      return std::nullopt;
    }
  }
  return product;
}

// Python's floor division and its remainder. REQUIRES: by ≠ 0, and not least / -1.
std::int64_t floor_divide(std::int64_t value, std::int64_t by) {
  return value / by - (value % by != 0 && (value % by < 0) != (by < 0) ? 1 : 0);
}

}  // namespace

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    std::int64_t sum = 0;
    constexpr std::size_t kMostDigits = 15;
    if (digits.size() < 3 || digits.size() > 2 + kMostDigits) {
      return std::nullopt;
    }
    for (const char c : to_lower(std::string_view(digits).substr(2))) {
      const std::size_t digit = std::string_view("0123456789abcdef").find(c);
      if (digit == std::string_view::npos) {
        return std::nullopt;
      }
      sum = sum * 16 + static_cast<std::int64_t>(digit);
    }
    return sum;
  }
  return to_integer(digits);
}

std::optional<double> real_of(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  return to_double(digits);
}

std::optional<std::int64_t> whole_result(std::string_view symbol, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (symbol == "+") {
    return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  }
  if (symbol == "-") {
    return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  }
  if (symbol == "*") {
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  }
  if (symbol == "**") {
    return whole_power(a, b);
  }
  if (b == 0 || b == -1) {
    return std::nullopt;
  }
  if (symbol == "//") {
    return floor_divide(a, b);
  }
  if (symbol == "%") {
    return a - floor_divide(a, b) * b;
  }
  return std::nullopt;  // "/" is never whole
}

std::optional<double> real_result(std::string_view symbol, double a, double b) {
  double result = 0.0;
  if (symbol == "+") {
    result = a + b;
  } else if (symbol == "-") {
    result = a - b;
  } else if (symbol == "*") {
    result = a * b;
  } else if (symbol == "/" && b != 0.0) {
    result = a / b;
  } else {
    return std::nullopt;
  }
  return std::isfinite(result) ? std::optional(result) : std::nullopt;
}

}  // namespace sextant::emit::python
