#include "profile/step_name.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace sextant::profile {
namespace {

// Nobody names a step in more.
constexpr std::size_t kLongestStepName = 100;
constexpr std::array<std::string_view, 10> kStepWords{
    "step",      "steps",        "iter",         "iteration",  "batch",
    "trainstep", "trainingstep", "profilerstep", "globalstep", "trainbatch"};
constexpr std::array<std::string_view, 24> kPartWords{
    "forward", "fwd",  "backward", "bwd",        "optimizer", "optim", "opt", "micro",
    "inner",   "sub",  "eval",     "evaluation", "val",       "test",  "lr",  "scheduler",
    "pre",     "post", "grad",     "data",       "load",      "next",  "get", "microbatch"};

bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}

template <std::size_t N>
bool is_among(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::optional<StepName> step_name(std::string_view text) {
  text = trimmed(text);
  if (text.size() > kLongestStepName) {
    return std::nullopt;
  }
  const std::string lower = to_lower(text);
  StepName name;
  std::string_view last_word;
  for (std::size_t at = 0; at < lower.size();) {
    std::size_t end = at + 1;
    if (is_digit(lower[at])) {
      while (end < lower.size() && is_digit(lower[end])) {
        ++end;
      }
      // Of "30/500" the first is which, the second how many.
      const bool is_total = at > 0 && lower[at - 1] == '/' && name.number.has_value();
      if (!is_total) {
        name.number = to_integer(std::string_view(lower).substr(at, end - at));
      }
      name.row += '#';
    } else if (is_letter(lower[at])) {
      while (end < lower.size() && is_letter(lower[end])) {
        ++end;
      }
      last_word = std::string_view(lower).substr(at, end - at);
      if (is_among(last_word, kPartWords)) {
        return std::nullopt;
      }
      name.row += last_word;
    } else {
      name.row += lower[at];
    }
    at = end;
  }
  return is_among(last_word, kStepWords) ? std::optional(std::move(name)) : std::nullopt;
}

}  // namespace sextant::profile
