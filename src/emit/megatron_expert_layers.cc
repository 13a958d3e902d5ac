#include "emit/megatron_expert_layers.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::emit {
namespace {

tl::unexpected<Error> broken(std::string_view text) {
  return invalid(fmt::format("'{}' does not say which layers hold experts", printable(text)), {},
                 "a number, or lists of 0 and 1 such as [0]*3+[1]*58");
}

// "[0,1]*4": a list and how often it stands.
Result<std::vector<bool>> parse_run(std::string_view run, std::string_view whole) {
  const std::size_t close = run.find(']');
  if (run.empty() || run.front() != '[' || close == std::string_view::npos) {
    return broken(whole);
  }
  std::vector<bool> once;
  for (const std::string_view part : split(run.substr(1, close - 1), ',')) {
    const auto value = to_integer(trimmed(part));
    if (!value || (*value != 0 && *value != 1)) {
      return broken(whole);
    }
    once.push_back(*value == 1);
  }
  std::string_view rest = trimmed(run.substr(close + 1));
  std::int64_t times = 1;
  if (!rest.empty()) {
    const auto number = rest.front() == '*' ? to_integer(trimmed(rest.substr(1))) : std::nullopt;
    const auto size = static_cast<std::int64_t>(once.size());
    if (!number || *number < 0 || *number > kMostMegatronLayers / size) {
      return broken(whole);
    }
    times = *number;
  }
  std::vector<bool> all;
  for (std::int64_t i = 0; i < times; ++i) {
    all.insert(all.end(), once.begin(), once.end());
  }
  return all;
}

}  // namespace

Result<std::vector<bool>> parse_expert_layers(std::string_view text, std::int64_t layers) {
  std::vector<bool> expert;
  if (const auto every = to_integer(trimmed(text))) {
    if (*every < 1) {
      return broken(text);
    }
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      expert.push_back(layer % *every == 0);
    }
    return expert;
  }
  std::string plain(trimmed(text));
  std::erase_if(plain, [](char c) { return c == '(' || c == ')' || c == '"' || c == '\''; });
  for (const std::string_view run : split(plain, '+')) {
    SEXTANT_TRY(const std::vector<bool> some, parse_run(trimmed(run), text));
    expert.insert(expert.end(), some.begin(), some.end());
    if (static_cast<std::int64_t>(expert.size()) > layers) {
      break;
    }
  }
  if (static_cast<std::int64_t>(expert.size()) != layers) {
    return invalid(fmt::format("'{}' does not list {} layers", printable(text), layers), {},
                   "one number a layer");
  }
  return expert;
}

std::string expert_layers_text(const std::vector<bool>& expert) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < expert.size();) {
    std::size_t end = i;
    while (end < expert.size() && expert[end] == expert[i]) {
      end += 1;
    }
    runs.push_back(fmt::format("[{}]*{}", expert[i] ? 1 : 0, end - i));
    i = end;
  }
  return fmt::format("({})", join(runs, "+"));
}

}  // namespace sextant::emit
