#include "emit/tree_file_json.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::emit {
namespace {

constexpr std::string_view kAllowedJson =
    "JSON with comments: keys and words in double quotes, values separated by commas";

bool is_bare_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '+' || c == '-' ||
         c == '.';
}

class Plainer {
 public:
  Plainer(std::string_view text, std::string_view name) : text_(text), name_(name), out_(text) {}

  Result<std::string> run() && {
    while (at_ < text_.size()) {
      SEXTANT_CHECK_OK(step());
    }
    return std::move(out_);
  }

 private:
  Result<void> step() {
    const char c = text_[at_];
    if (c == '"') {
      string();
    } else if (c == '#' || text_.substr(at_, 2) == "//") {
      blank(text_.find('\n', at_));
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) {
        return hjson("a comment is not closed");
      }
      blank(end + 2);
    } else if (is_bare_character(c)) {
      return word();
    } else if (c == '\'') {
      return hjson("a text stands in single quotes");
    } else {
      mark(c);
    }
    return {};
  }

  // Structure and white space.
  void mark(char c) {
    if ((c == '}' || c == ']') && comma_ != std::string_view::npos) {
      out_[comma_] = ' ';
    }
    if (c == '\t' || c == '\r') {
      out_[at_] = ' ';
    } else if (c != ' ' && c != '\n') {
      comma_ = c == ',' ? at_ : std::string_view::npos;
    }
    at_ += 1;
  }

  void string() {
    comma_ = std::string_view::npos;
    at_ += 1;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
      at_ += text_[at_] == '\\' ? 2U : 1U;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  Result<void> word() {
    comma_ = std::string_view::npos;
    const std::size_t start = at_;
    while (at_ < text_.size() && is_bare_character(text_[at_])) {
      at_ += 1;
    }
    const std::string_view found = text_.substr(start, at_ - start);
    const char first = found.front();
    if (std::isdigit(static_cast<unsigned char>(first)) == 0 && first != '-' && found != "true" &&
        found != "false" && found != "null") {
      at_ = start;
      return hjson(fmt::format("'{}' stands without quotes", printable(found, 40)));
    }
    return {};
  }

  void blank(std::size_t end) {
    end = std::min(end, text_.size());
    for (; at_ < end; ++at_) {
      if (text_[at_] != '\n') {
        out_[at_] = ' ';
      }
    }
  }

  [[nodiscard]] tl::unexpected<Error> hjson(std::string_view what) const {
    return invalid(fmt::format("{}: this form of hjson is not read", what),
                   fmt::format("{}:{}", name_, line_column(text_, at_).line),
                   std::string(kAllowedJson));
  }

  std::string_view text_;
  std::string_view name_;
  std::string out_;
  std::size_t at_ = 0;
  std::size_t comma_ = std::string_view::npos;  // the last thing seen, where it was a comma
};

}  // namespace

Result<std::string> plain_json(std::string_view text, std::string_view name) {
  return Plainer(text, name).run();
}

}  // namespace sextant::emit
