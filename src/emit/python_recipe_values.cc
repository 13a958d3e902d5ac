#include "emit/python_recipe_values.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/python_recipe_numbers.h"

namespace sextant::emit::python {
namespace {

constexpr int kDeepestExpression = 200;

class Reader {
 public:
  Reader(std::span<const Token> tokens, const Scope& scope) : tokens_(tokens), scope_(scope) {}

  Value all() {
    Value value = expression();
    return at_ < tokens_.size() ? unknown_since(0, "is not a single value") : value;
  }

 private:
  [[nodiscard]] std::string_view peek(std::size_t ahead = 0) const {
    const std::size_t place = at_ + ahead;
    return place < tokens_.size() && tokens_[place].kind != TokenKind::kString ? tokens_[place].text
                                                                               : std::string_view();
  }
  [[nodiscard]] std::int64_t line() const {
    return tokens_.empty() ? 0 : tokens_[std::min(at_, tokens_.size() - 1)].line;
  }
  [[nodiscard]] bool at_end() const {
    const std::string_view next = peek();
    return at_ >= tokens_.size() || next == "," || next == ")" || next == "]" || next == "}";
  }

  // The text of the tokens from `start` to here, as an unknown.
  [[nodiscard]] Value unknown_since(std::size_t start, std::string why) const {
    if (start >= tokens_.size()) {
      return unknown("", std::move(why), line());
    }
    const Token& first = tokens_[start];
    const Token& last = tokens_[std::clamp(at_, start + 1, tokens_.size()) - 1];
    const std::size_t length = last.offset + last.text.size() - first.offset;
    return unknown(printable(scope_.file.substr(first.offset, length)), std::move(why), first.line);
  }

  // Past everything up to the end of this argument.
  void skip() {
    int depth = 0;
    while (at_ < tokens_.size() && (depth > 0 || !at_end())) {
      const std::string_view next = peek();
      depth += next == "(" || next == "[" || next == "{" ? 1 : 0;
      depth -= next == ")" || next == "]" || next == "}" ? 1 : 0;
      at_ += 1;
    }
  }

  Value expression() {
    const std::size_t start = at_;
    depth_ += 1;
    Value value = depth_ > kDeepestExpression ? unknown("", "nests too deeply", line()) : sum();
    depth_ -= 1;
    if (!at_end()) {
      skip();
      return unknown_since(start, "is worked out when the recipe runs");
    }
    if (value.kind == Value::Kind::kUnknown && value.text.empty()) {
      value.text = unknown_since(start, "").text;
    }
    return value;
  }

  Value sum() {
    const std::size_t start = at_;
    Value left = product();
    while (peek() == "+" || peek() == "-") {
      const std::string_view symbol = tokens_[at_++].text;
      left = combined(start, symbol, left, product());
    }
    return left;
  }

  Value product() {
    const std::size_t start = at_;
    Value left = signed_value();
    while (peek() == "*" || peek() == "/" || peek() == "//" || peek() == "%") {
      const std::string_view symbol = tokens_[at_++].text;
      left = combined(start, symbol, left, signed_value());
    }
    return left;
  }

  Value signed_value() {
    const std::size_t start = at_;
    bool negative = false;
    while (peek() == "-" || peek() == "+") {
      negative = negative != (peek() == "-");
      at_ += 1;
    }
    Value value = raised();
    if (!negative) {
      return value;
    }
    const std::size_t end = value.offset + value.length;
    const bool literal = value.length > 0 && at_ == start + 2;
    value = combined(start, "-", number("0"), value);
    if (literal && value.kind == Value::Kind::kNumber) {
      value.offset = tokens_[start].offset;
      value.length = end - value.offset;
    }
    return value;
  }

  Value raised() {
    const std::size_t start = at_;
    Value base = atom();
    if (peek() != "**") {
      return base;
    }
    at_ += 1;
    depth_ += 1;
    Value exponent =
        depth_ > kDeepestExpression ? unknown("", "nests too deeply", line()) : signed_value();
    depth_ -= 1;
    return combined(start, "**", base, exponent);
  }

  [[nodiscard]] Value number(std::string text) const {
    Value value;
    value.kind = Value::Kind::kNumber;
    value.text = std::move(text);
    value.line = line();
    return value;
  }

  [[nodiscard]] Value combined(std::size_t start, std::string_view symbol, const Value& left,
                               const Value& right) const {
    if (left.kind == Value::Kind::kNumber && right.kind == Value::Kind::kNumber) {
      const auto a = integer_of(left.text);
      const auto b = integer_of(right.text);
      const auto whole = a && b ? whole_result(symbol, *a, *b) : std::nullopt;
      if (whole) {
        return number(std::to_string(*whole));
      }
      const auto x = real_of(left.text);
      const auto y = real_of(right.text);
      // Whole numbers that do not fit stay unknown; they are never rounded.
      const bool rounds = a && b && symbol != "/";
      const auto real = x && y && !rounds ? real_result(symbol, *x, *y) : std::nullopt;
      if (real) {
        return number(fmt::format("{}", *real));
      }
    }
    return unknown_since(start, "is worked out when the recipe runs");
  }

  Value literal(Value::Kind kind, std::string text, std::size_t offset, std::size_t length) {
    Value value;
    value.kind = kind;
    value.text = std::move(text);
    value.line = line();
    value.offset = offset;
    value.length = length;
    at_ += 1;
    return value;
  }

  Value atom() {
    if (at_ >= tokens_.size()) {
      return unknown("", "is missing", line());
    }
    const Token& token = tokens_[at_];
    switch (token.kind) {
      case TokenKind::kNumber:
        return numeral(token);
      case TokenKind::kString:
        return strings();
      case TokenKind::kName:
        return named();
      case TokenKind::kOperator:
        break;
    }
    if (token.text == "(" || token.text == "[") {
      return sequence();
    }
    const std::size_t start = at_;
    if (token.text == "{") {
      at_ += 1;
      skip_brackets();
      return unknown_since(start, "is a dictionary or a set");
    }
    skip();
    return unknown_since(start, "is not a value that is known here");
  }

  Value numeral(const Token& token) {
    std::string digits(token.text);
    std::erase(digits, '_');
    const auto whole = integer_of(digits);
    if (!whole && !real_of(digits)) {
      at_ += 1;
      return unknown(printable(token.text), "is not a number that is known here", token.line);
    }
    return literal(Value::Kind::kNumber, whole ? std::to_string(*whole) : digits, token.offset,
                   token.text.size());
  }

  Value strings() {
    const std::size_t start = at_;
    std::string text;
    bool plain = true;
    while (at_ < tokens_.size() && tokens_[at_].kind == TokenKind::kString) {
      plain = plain && tokens_[at_].plain;
      text += unescaped(tokens_[at_].text);
      at_ += 1;
    }
    if (!plain) {
      return unknown_since(start, "is a formatted, raw or byte string");
    }
    const Token& first = tokens_[start];
    const std::size_t pieces = at_ - start;
    at_ = start;
    Value value =
        literal(Value::Kind::kText, std::move(text), first.offset - 1, first.text.size() + 2);
    at_ = start + pieces;
    const bool one_line = first.text.find('\n') == std::string_view::npos;
    const bool tripled =
        first.offset >= 2 && scope_.file[first.offset - 1] == scope_.file[first.offset - 2];
    value.length = pieces == 1 && one_line && !tripled ? value.length : 0;
    return value;
  }

  // Past the bracket that closes the one just passed.
  void skip_brackets() {
    int depth = 1;
    while (at_ < tokens_.size() && depth > 0) {
      const std::string_view next = peek();
      depth += next == "(" || next == "[" || next == "{" ? 1 : 0;
      depth -= next == ")" || next == "]" || next == "}" ? 1 : 0;
      at_ += 1;
    }
  }

  // "(a)", "(a, b)", "[a, b]".
  Value sequence() {
    const bool round = peek() == "(";
    Value list;
    list.kind = Value::Kind::kList;
    list.line = line();
    at_ += 1;
    bool comma = false;
    while (at_ < tokens_.size() && peek() != ")" && peek() != "]" && peek() != "}") {
      list.items.push_back(expression());
      comma = comma || peek() == ",";
      at_ += peek() == "," ? std::size_t{1} : std::size_t{0};
    }
    at_ = std::min(at_ + 1, tokens_.size());
    return round && list.items.size() == 1 && !comma ? std::move(list.items.front()) : list;
  }

  Value named() {
    const std::size_t start = at_;
    const std::string_view first = tokens_[at_].text;
    if (first == "True" || first == "False" || first == "None") {
      const Token& token = tokens_[at_];
      const Value::Kind kind = first == "None" ? Value::Kind::kNone : Value::Kind::kBool;
      return literal(kind,
                     first == "None"   ? "None"
                     : first == "True" ? "true"
                                       : "false",
                     token.offset, token.text.size());
    }
    std::vector<std::string_view> path{first};
    at_ += 1;
    while (peek() == "." && at_ + 1 < tokens_.size() && tokens_[at_ + 1].kind == TokenKind::kName) {
      path.push_back(tokens_[at_ + 1].text);
      at_ += 2;
    }
    Value value = peek() == "(" ? call(path) : resolved(path, start);
    while (peek() == "." || peek() == "(" || peek() == "[") {
      const bool bracket = peek() != ".";
      at_ += 1;
      if (bracket) {
        skip_brackets();
      } else {
        at_ = std::min(at_ + 1, tokens_.size());
      }
      value = unknown_since(start, "is worked out when the recipe runs");
    }
    return value;
  }

  Value call(const std::vector<std::string_view>& path) {
    Value value;
    value.kind = Value::Kind::kCall;
    value.line = line();
    for (const std::string_view part : path) {
      value.text += (value.text.empty() ? "" : ".") + std::string(part);
    }
    at_ += 1;
    while (at_ < tokens_.size() && peek() != ")" && peek() != "]" && peek() != "}") {
      const bool keyword = tokens_[at_].kind == TokenKind::kName && peek(1) == "=";
      if (keyword) {
        std::string name(tokens_[at_].text);
        at_ += 2;
        value.keywords.push_back({std::move(name), expression()});
      } else if (peek() == "*" || peek() == "**") {
        const std::size_t start = at_;
        skip();
        value.keywords.push_back({"*", unknown_since(start, "spreads arguments")});
      } else {
        value.items.push_back(expression());
      }
      at_ += peek() == "," ? std::size_t{1} : std::size_t{0};
    }
    at_ = std::min(at_ + 1, tokens_.size());
    return value;
  }

  // "name", or "name.member" of a call that is known.
  [[nodiscard]] Value resolved(const std::vector<std::string_view>& path, std::size_t start) const {
    Value value = scope_.look_up(path.front(), line());
    for (std::size_t i = 1; i < path.size(); ++i) {
      const auto found = std::find_if(value.keywords.begin(), value.keywords.end(),
                                      [&](const auto& pair) { return pair.first == path[i]; });
      if (value.kind != Value::Kind::kCall || found == value.keywords.end()) {
        return unknown_since(start, fmt::format("{} is not known here", path.front()));
      }
      Value member = std::move(found->second);  // out of what it is about to replace
      value = std::move(member);
    }
    // The literal stands somewhere else and may serve others too.
    value.length = 0;
    return value;
  }

  std::span<const Token> tokens_;
  const Scope& scope_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Value unknown(std::string text, std::string why, std::int64_t line) {
  Value value;
  value.text = std::move(text);
  value.why = std::move(why);
  value.line = line;
  return value;
}

std::size_t weight_of(const Value& value) {
  std::size_t weight = 1 + value.settings.size() + value.unresolved.size();
  for (const Value& item : value.items) {
    weight += weight_of(item);
  }
  for (const auto& [name, item] : value.keywords) {
    weight += weight_of(item);
  }
  return weight;
}

Value Scope::look_up(std::string_view name, std::int64_t line) const {
  for (const Names* names : {inner, outer}) {
    const auto found = names == nullptr ? Names::const_iterator() : names->find(name);
    if (names == nullptr || found == names->end()) {
      continue;
    }
    const std::size_t weight = *budget == 0 ? 1 : weight_of(found->second);
    if (weight > *budget) {
      *budget = 0;
      return unknown(std::string(name), "the file repeats too much of itself", line);
    }
    *budget -= weight;
    return found->second;
  }
  return unknown(std::string(name), fmt::format("{} is not set in this file", name), line);
}

Value value_of(std::span<const Token> tokens, const Scope& scope) {
  return Reader(tokens, scope).all();
}

}  // namespace sextant::emit::python
