#include "emit/shell_arithmetic.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/shell_words.h"

namespace sextant::emit {
namespace {

constexpr int kMaxDepth = 32;

struct Operator {
  std::string_view sign;
  int strength;
};
// Longer signs before their beginnings. Strengths in bash's order; 2 is `?:`.
constexpr std::array<Operator, 20> kOperators{
    {{"**", 14}, {"<<", 11}, {">>", 11}, {"<=", 10}, {">=", 10}, {"==", 9}, {"!=", 9},
     {"&&", 5},  {"||", 4},  {"*", 13},  {"/", 13},  {"%", 13},  {"+", 12}, {"-", 12},
     {"<", 10},  {">", 10},  {"&", 8},   {"^", 7},   {"|", 6},   {"?", 2}}};

Result<std::int64_t> power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    return invalid("a power has a negative exponent");
  }
  std::int64_t value = 1;
  // Only -1, 0 and 1 have large powers that fit.
  const std::int64_t steps =
      base >= -1 && base <= 1 ? (exponent == 0 ? 0 : 2 - exponent % 2) : exponent;
  for (std::int64_t i = 0; i < steps; ++i) {
    if (__builtin_mul_overflow(value, base, &value)) {
      return invalid("the result does not fit 64 bits");
    }
  }
  return value;
}

Result<std::int64_t> divided(std::string_view sign, std::int64_t a, std::int64_t b) {
  if (b == 0) {
    return invalid("it divides by zero");
  }
  if (b == -1) {
    if (a == std::numeric_limits<std::int64_t>::min()) {
      return invalid("the result does not fit 64 bits");
    }
    return sign == "/" ? -a : 0;
  }
  return sign == "/" ? a / b : a % b;
}

Result<std::int64_t> shifted(std::string_view sign, std::int64_t a, std::int64_t b) {
  if (a < 0 || b < 0 || b > 62 ||
      (sign == "<<" && a > std::numeric_limits<std::int64_t>::max() >> b)) {
    return invalid("a shift does not fit 64 bits");
  }
  return sign == "<<" ? a << b : a >> b;
}

using Comparison = bool (*)(std::int64_t, std::int64_t);
constexpr std::array<std::pair<std::string_view, Comparison>, 8> kComparisons{{
    {"<", [](std::int64_t a, std::int64_t b) { return a < b; }},
    {">", [](std::int64_t a, std::int64_t b) { return a > b; }},
    {"<=", [](std::int64_t a, std::int64_t b) { return a <= b; }},
    {">=", [](std::int64_t a, std::int64_t b) { return a >= b; }},
    {"==", [](std::int64_t a, std::int64_t b) { return a == b; }},
    {"!=", [](std::int64_t a, std::int64_t b) { return a != b; }},
    {"&&", [](std::int64_t a, std::int64_t b) { return a != 0 && b != 0; }},
    {"||", [](std::int64_t a, std::int64_t b) { return a != 0 || b != 0; }},
}};

std::int64_t compared(std::string_view sign, std::int64_t a, std::int64_t b) {
  const auto* const found =
      std::ranges::find_if(kComparisons, [sign](const auto& one) { return one.first == sign; });
  return found != kComparisons.end() && found->second(a, b) ? 1 : 0;
}

Result<std::int64_t> combined(std::string_view sign, std::int64_t a, std::int64_t b) {
  std::int64_t value = 0;
  bool overflow = false;
  if (sign == "+") {
    overflow = __builtin_add_overflow(a, b, &value);
  } else if (sign == "-") {
    overflow = __builtin_sub_overflow(a, b, &value);
  } else if (sign == "*") {
    overflow = __builtin_mul_overflow(a, b, &value);
  } else if (sign == "/" || sign == "%") {
    return divided(sign, a, b);
  } else if (sign == "**") {
    return power(a, b);
  } else if (sign == "<<" || sign == ">>") {
    return shifted(sign, a, b);
  } else if (sign == "&") {
    value = a & b;
  } else if (sign == "|") {
    value = a | b;
  } else if (sign == "^") {
    value = a ^ b;
  } else {
    value = compared(sign, a, b);
  }
  if (overflow) {
    return invalid("the result does not fit 64 bits");
  }
  return value;
}

class Evaluator {
 public:
  Evaluator(std::string_view text, const ArithmeticName& value_of)
      : text_(text), value_of_(value_of) {}

  Result<std::int64_t> whole() {
    SEXTANT_TRY(const std::int64_t value, binary(0, 0));
    skip_blanks();
    if (at_ != text_.size()) {
      return invalid(fmt::format("'{}' is not understood there", printable(text_.substr(at_), 20)));
    }
    return value;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string::npos) {
      ++at_;
    }
  }

  // The operator that stands here, or none.
  [[nodiscard]] const Operator* next_operator() const {
    const std::string_view rest = text_.substr(at_);
    for (const Operator& candidate : kOperators) {
      if (rest.starts_with(candidate.sign)) {
        return &candidate;
      }
    }
    return nullptr;
  }

  Result<std::int64_t> binary(int least, int depth) {
    if (depth > kMaxDepth) {
      return invalid("brackets stand too deep in each other");
    }
    SEXTANT_TRY(std::int64_t left, unary(depth));
    while (true) {
      skip_blanks();
      const Operator* sign = next_operator();
      if (sign == nullptr || sign->strength < least) {
        return left;
      }
      at_ += sign->sign.size();
      if (sign->sign == "?") {
        return choice(left, depth);
      }
      // Powers bind to the right, all others to the left.
      SEXTANT_TRY(const std::int64_t right,
                  binary(sign->sign == "**" ? sign->strength : sign->strength + 1, depth + 1));
      SEXTANT_TRY(left, combined(sign->sign, left, right));
    }
  }

  Result<std::int64_t> choice(std::int64_t condition, int depth) {
    SEXTANT_TRY(const std::int64_t when_true, binary(0, depth + 1));
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != ':') {
      return invalid("a '?' has no ':'");
    }
    ++at_;
    SEXTANT_TRY(const std::int64_t when_false, binary(0, depth + 1));
    return condition != 0 ? when_true : when_false;
  }

  Result<std::int64_t> unary(int depth) {
    skip_blanks();
    if (depth > kMaxDepth) {
      return invalid("brackets stand too deep in each other");
    }
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '(') {
      ++at_;
      SEXTANT_TRY(const std::int64_t value, binary(0, depth + 1));
      skip_blanks();
      if (at_ >= text_.size() || text_[at_] != ')') {
        return invalid("a bracket is not closed");
      }
      ++at_;
      return value;
    }
    if (c == '-' || c == '+' || c == '!' || c == '~') {
      ++at_;
      if (at_ < text_.size() && text_[at_] == c && (c == '-' || c == '+')) {
        return invalid("it changes a variable");
      }
      SEXTANT_TRY(const std::int64_t value, unary(depth + 1));
      if (c == '-') {
        return combined("-", 0, value);
      }
      return c == '+' ? value : c == '~' ? ~value : value == 0 ? 1 : 0;
    }
    return number_or_name();
  }

  Result<std::int64_t> number_or_name() {
    const std::size_t start = at_;
    const auto is_part = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    while (at_ < text_.size() && is_part(text_[at_])) {
      ++at_;
    }
    const std::string_view word = text_.substr(start, at_ - start);
    if (word.empty()) {
      return invalid(start == text_.size()
                         ? std::string("a value is missing")
                         : fmt::format("'{}' is no number", printable(text_.substr(start), 20)));
    }
    if (word[0] >= '0' && word[0] <= '9') {
      return number(word);
    }
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    const bool assigns = (rest.starts_with('=') && !rest.starts_with("==")) ||
                         rest.starts_with("+=") || rest.starts_with("-=") ||
                         rest.starts_with("*=") || rest.starts_with("/=") ||
                         rest.starts_with("++") || rest.starts_with("--");
    if (assigns) {
      return invalid("it changes a variable");
    }
    return value_of_(word);
  }

  static Result<std::int64_t> number(std::string_view word) {
    const int base = word.starts_with("0x") || word.starts_with("0X") ? 16
                     : word.size() > 1 && word[0] == '0'              ? 8
                                                                      : 10;
    std::int64_t value = 0;
    for (const char c : word.substr(base == 16 ? 2 : 0)) {
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : 99;
      if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
          __builtin_add_overflow(value, digit, &value)) {
        return invalid(fmt::format("'{}' is no number of 64 bits", printable(word, 24)));
      }
    }
    return value;
  }

  std::string_view text_;
  const ArithmeticName& value_of_;
  std::size_t at_ = 0;
};

// Does an operator that sets what stands before it begin here? "=" but not "==", "+=", "++", …
bool sets(std::string_view rest) {
  const std::size_t at = rest.find_first_not_of(" \t");
  if (at == std::string_view::npos) {
    return false;
  }
  const std::string_view op = rest.substr(at, 3);
  if (op.starts_with("++") || op.starts_with("--")) {
    return true;
  }
  const std::size_t equals = op.find('=');
  const bool compares =
      op.starts_with("==") || op.starts_with("<=") || op.starts_with(">=") || op.starts_with("!=");
  return equals != std::string_view::npos && !compares &&
         op.substr(0, equals).find_first_not_of("+-*/%&|^<>") == std::string_view::npos;
}

}  // namespace

Result<std::int64_t> arithmetic(std::string_view expression, const ArithmeticName& value_of) {
  return Evaluator(expression, value_of).whole();
}

std::vector<std::string> names_set(std::string_view expression) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < expression.size();) {
    const std::size_t first = expression.find_first_of(kShellNameCharacters, at);
    if (first == std::string_view::npos) {
      break;
    }
    at = std::min(expression.find_first_not_of(kShellNameCharacters, first), expression.size());
    const std::string_view name = expression.substr(first, at - first);
    const bool before = first >= 2 && (expression.substr(first - 2, 2) == "++" ||
                                       expression.substr(first - 2, 2) == "--");
    if (is_shell_name(name) && (before || sets(expression.substr(at)))) {
      names.emplace_back(name);
    }
  }
  return names;
}

}  // namespace sextant::emit
