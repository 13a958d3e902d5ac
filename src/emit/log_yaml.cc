#include "emit/log_yaml.h"

#include "base/text.h"
#include "emit/log_text.h"

namespace sextant::emit {
namespace {

constexpr std::string_view kTarget = "_target_: megatron.bridge.";
constexpr std::string_view kContainer = "ConfigContainer";
constexpr int kMostOthers = 2000;
constexpr std::size_t kDeepestYaml = 32;

bool is_yaml_key(std::string_view key) {
  return !key.empty() && key.size() <= kLongestKey &&
         key.find_first_of(" \t{}[]\"'|#") == std::string_view::npos;
}

}  // namespace

std::optional<YamlDump> YamlDump::starting_at(std::string_view line) {
  const std::size_t at = line.find(kTarget);
  if (at == std::string_view::npos || line.find(kContainer, at) == std::string_view::npos) {
    return std::nullopt;
  }
  YamlDump dump;
  dump.prefix_ = std::string(line.substr(0, at));
  return dump;
}

std::string YamlDump::path() const {
  std::string path;
  for (const auto& [indent, key] : stack_) {
    path += path.empty() ? key : "." + key;
  }
  return path;
}

YamlDump::Took YamlDump::take(std::string_view line) {
  field_ = {};
  if (!line.starts_with(prefix_)) {
    return ++others_ > kMostOthers ? Took::kEnd : Took::kOther;
  }
  line.remove_prefix(prefix_.size());
  const std::size_t indent = line.find_first_not_of(' ');
  if (indent == std::string_view::npos) {
    return Took::kEnd;
  }
  const std::string_view text = trimmed(line);
  if (text.starts_with("- ")) {
    return take_item(text.substr(2));
  }
  const std::size_t colon = text.find(':');
  const bool pair = colon != std::string_view::npos && is_yaml_key(text.substr(0, colon)) &&
                    (colon + 1 == text.size() || text[colon + 1] == ' ');
  while (!stack_.empty() && stack_.back().first >= indent) {
    stack_.pop_back();
  }
  // A key stands at the left or inside an open map.
  if (!pair || (stack_.empty() && indent > 0) || stack_.size() >= kDeepestYaml) {
    return Took::kEnd;
  }
  stack_.emplace_back(indent, std::string(text.substr(0, colon)));
  if (auto values = printed_values(text.substr(colon + 1))) {
    field_ = {path(), std::move(*values), false};
  }
  return Took::kLine;
}

YamlDump::Took YamlDump::take_item(std::string_view item) {
  const std::optional<std::string> value = printed_value(item);
  if (stack_.empty()) {
    return Took::kEnd;
  }
  if (value && item.find(": ") == std::string_view::npos) {
    field_ = {path(), {*value}, true};
  }
  return Took::kLine;
}

}  // namespace sextant::emit
