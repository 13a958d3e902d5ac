#include "emit/megatron_pipeline_layout.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::emit {
namespace {

constexpr std::size_t kMostParts = 65536;
constexpr std::size_t kLongest = 65536;
constexpr int kDeepestBrackets = 8;
constexpr std::string_view kParts = "EtmL|";
constexpr std::string_view kAllowedParts = "E, t, m, L, '|', '(…)*N' and 'x*N', up to 65536 parts";

// Writes repetitions out: "t*3|" becomes "ttt|".
class Expansion {
 public:
  explicit Expansion(std::string_view text) : text_(text) {}

  Result<std::string> whole() {
    SEXTANT_TRY(std::string parts, sequence(0));
    if (at_ != text_.size()) {
      return broken("has a ')' too many");
    }
    return parts;
  }

 private:
  [[nodiscard]] tl::unexpected<Error> broken(std::string_view what) const {
    return invalid(fmt::format("the pipeline layout '{}' {}", printable(text_), what), {},
                   std::string(kAllowedParts));
  }

  Result<std::string> sequence(int depth) {
    std::string parts;
    while (at_ < text_.size() && text_[at_] != ')') {
      const char c = text_[at_++];
      if (c == ',' || c == ' ') {
        continue;
      }
      std::string piece(1, c);
      if (c == '(') {
        if (depth == kDeepestBrackets) {
          return broken("nests too deeply");
        }
        SEXTANT_TRY(piece, sequence(depth + 1));
        if (at_ == text_.size()) {
          return broken("does not close a '('");
        }
        at_ += 1;
      } else if (kParts.find(c) == std::string_view::npos) {
        return broken(fmt::format("has the letter '{}'", printable({&c, 1})));
      }
      SEXTANT_TRY(const std::size_t times, repetitions());
      if (!piece.empty() && times > (kMostParts - parts.size()) / piece.size()) {
        return broken("is too long");
      }
      for (std::size_t i = 0; i < times; ++i) {
        parts += piece;
      }
    }
    return parts;
  }

  // What follows a part: "*12", or once.
  Result<std::size_t> repetitions() {
    if (at_ == text_.size() || text_[at_] != '*') {
      return std::size_t{1};
    }
    const std::size_t first = ++at_;
    at_ = std::min(text_.find_first_not_of("0123456789", first), text_.size());
    const auto times = to_integer(text_.substr(first, at_ - first));
    if (!times || *times > static_cast<std::int64_t>(kMostParts)) {
      return broken("repeats a part no known number of times");
    }
    return static_cast<std::size_t>(*times);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string repeated(std::string_view part, std::int64_t times) {
  if (times <= 1) {
    return times == 1 ? std::string(part) : std::string();
  }
  return fmt::format("{}*{}", part, times);
}

}  // namespace

Result<std::vector<std::int64_t>> parse_pipeline_layout(std::string_view text) {
  if (text.size() > kLongest) {
    return invalid("the pipeline layout is longer than 64 KiB", {}, std::string(kAllowedParts));
  }
  SEXTANT_TRY(const std::string parts, Expansion(text).whole());
  const bool framed = parts.size() >= 2 && parts.front() == 'E' && parts.back() == 'L' &&
                      std::count(parts.begin(), parts.end(), 'E') == 1 &&
                      std::count(parts.begin(), parts.end(), 'L') == 1;
  if (!framed) {
    return invalid(
        fmt::format("the pipeline layout '{}' does not run from E to L", printable(text)), {},
        "one E at the start, one L at the end");
  }
  std::vector<std::int64_t> stages{0};
  for (const char part : parts) {
    if (part == '|') {
      stages.push_back(0);
    } else if (part == 't') {
      stages.back() += 1;
    }
  }
  return stages;
}

std::string pipeline_layout_text(std::span<const std::int64_t> layers_per_stage,
                                 std::int64_t mtp_layers) {
  std::string text = "E";
  const std::size_t last = layers_per_stage.size() - 1;
  for (std::size_t i = 0; i < last;) {
    std::size_t end = i + 1;
    while (i > 0 && end < last && layers_per_stage[end] == layers_per_stage[i]) {
      end += 1;
    }
    const std::string stage = repeated("t", layers_per_stage[i]) + "|";
    text += end - i == 1 ? stage : fmt::format("({})*{},", stage, end - i);
    i = end;
  }
  const std::string layers = repeated("t", layers_per_stage[last]);
  const std::string extra = repeated("m", mtp_layers);
  text += layers + (layers.size() > 1 && !extra.empty() ? "," : "") + extra;
  return text + (layers.size() > 1 || extra.size() > 1 ? ",L" : "L");
}

}  // namespace sextant::emit
