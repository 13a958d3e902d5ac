#include "emit/log_literal.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "emit/log_text.h"

namespace sextant::emit {
namespace {

constexpr int kDeepestLiteral = 32;
constexpr std::size_t kMostFields = 20'000;
constexpr std::size_t kMostLiteralValues = 4096;
constexpr std::size_t kLongestPath = 512;

// "nanotron.config.Mode.REDUCE_SCATTER: 2" → "REDUCE_SCATTER"; "a.b.Engine object at 0x7f" →
// "Engine".
std::string_view short_name(std::string_view inside) {
  inside = inside.substr(0, std::min(inside.find(':'), inside.find(" object at")));
  inside = trimmed(inside);
  const std::size_t dot = inside.rfind('.');
  return dot == std::string_view::npos ? inside : inside.substr(dot + 1);
}

std::string joined_path(const std::string& path, std::string_view key) {
  if (path.size() + key.size() + 1 > kLongestPath) {
    return {};
  }
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

class Literal {
 public:
  explicit Literal(std::string_view text) : text_(text) {}

  std::vector<LiteralField> read() {
    const std::size_t start = at_;
    if (std::optional<std::string> alone = value({}, 0)) {
      add({}, {std::move(*alone)}, start);
    }
    return std::move(fields_);
  }

 private:
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\n", at_), text_.size()); }
  [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    skip_blanks();
    if (here() != c) {
      return false;
    }
    ++at_;
    return true;
  }
  void stop() { at_ = text_.size(); }

  void add(const std::string& path, std::vector<std::string> values, std::size_t offset) {
    if (!path.empty() && !values.empty() && fields_.size() < kMostFields) {
      fields_.push_back({path, std::move(values), offset});
    }
  }

  // A word or a quoted text; quotes are taken off.
  std::string_view word() {
    skip_blanks();
    const char quote = here();
    if (quote == '"' || quote == '\'') {
      const std::size_t start = ++at_;
      while (at_ < text_.size() && text_[at_] != quote) {
        at_ += text_[at_] == '\\' ? 2U : 1U;
      }
      const std::string_view inside = text_.substr(start, std::min(at_, text_.size()) - start);
      at_ = std::min(at_ + 1, text_.size());
      return inside;
    }
    if (quote == '<') {
      const std::size_t start = ++at_;
      at_ = std::min(text_.find('>', at_), text_.size());
      const std::string_view inside = text_.substr(start, at_ - start);
      at_ = std::min(at_ + 1, text_.size());
      return short_name(inside);
    }
    const std::size_t start = at_;
    at_ = std::min(text_.find_first_of(",:=()[]{}<\"' \t\n", at_), text_.size());
    std::string_view bare = text_.substr(start, at_ - start);
    if (bare.starts_with("torch.")) {
      bare.remove_prefix(6);
    }
    return bare;
  }

  // A scalar is returned; the parts of anything else become fields under `path`.
  std::optional<std::string> value(const std::string& path, int depth) {
    skip_blanks();
    if (depth > kDeepestLiteral || at_ >= text_.size()) {
      stop();
      return std::nullopt;
    }
    const char first = here();
    if (first == '{') {
      ++at_;
      members(path, '}', depth);
      return std::nullopt;
    }
    if (first == '[' || first == '(') {
      ++at_;
      members(path, first == '[' ? ']' : ')', depth);
      return std::nullopt;
    }
    const std::size_t start = at_;
    const std::string_view text = word();
    if (take('(')) {
      members(path, ')', depth);
      return std::nullopt;
    }
    if (at_ == start) {
      stop();  // a character that begins nothing
    }
    return first == '"' || first == '\'' ? std::optional<std::string>(text) : printed_value(text);
  }

  // "key: value", "key=value" or plain values up to the closing bracket. Plain ones are together
  // the values of `path`.
  void members(const std::string& path, char close, int depth) {
    const std::size_t start = at_;
    std::vector<std::string> plain;
    while (at_ < text_.size() && !take(close)) {
      member(path, depth, plain);
      if (!take(',')) {
        skip_blanks();
        if (here() != close) {
          stop();
        }
      }
    }
    add(path, std::move(plain), start);
  }

  void member(const std::string& path, int depth, std::vector<std::string>& plain) {
    skip_blanks();
    const std::size_t start = at_;
    const std::string_view key = word();
    if (at_ > start && (take(':') || take('='))) {
      skip_blanks();
      const std::size_t offset = at_;
      const std::string inner = joined_path(path, key);
      if (std::optional<std::string> scalar = value(inner, depth + 1)) {
        add(inner, {std::move(*scalar)}, offset);
      }
      return;
    }
    at_ = start;
    std::optional<std::string> scalar = value(path, depth + 1);
    if (scalar && plain.size() < kMostLiteralValues) {
      plain.push_back(std::move(*scalar));
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<LiteralField> fields_;
};

}  // namespace

std::vector<LiteralField> literal_fields(std::string_view text) {
  return Literal(text).read();
}

void BracketDepth::take(std::string_view line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != 0) {
      if (c == '\\') {
        ++at;
      } else if (c == quote) {
        quote = 0;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '{' || c == '[' || c == '(') {
      ++depth;
    } else if (c == '}' || c == ']' || c == ')') {
      --depth;
    }
  }
  quote = 0;  // a text does not run over lines
}

}  // namespace sextant::emit
