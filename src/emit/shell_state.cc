#include "emit/shell_state.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::emit {
namespace {

bool stands_in(int branch, const ShellSpot& spot) {
  return branch == 0 || std::ranges::find(spot.branches, branch) != spot.branches.end();
}

std::string elements_text(const ShellState::Value& value) {
  std::string text;
  for (const ShellRuns& element : value.elements) {
    text += text_of(element) + '\n';
  }
  return text;
}

// Short elements cost more than their text.
std::size_t size_of(const ShellState::Value& value) {
  constexpr std::size_t kRunBytes = 16;
  std::size_t bytes = 0;
  for (const ShellRuns& element : value.elements) {
    bytes += kRunBytes;
    for (const ShellRun& run : element) {
      bytes += run.text.size() + kRunBytes;
    }
  }
  return bytes;
}

}  // namespace

std::string text_of(const ShellRuns& runs) {
  std::string text;
  for (const ShellRun& run : runs) {
    text += run.text;
  }
  return text;
}

std::size_t ShellState::origin_of(std::size_t offset) const {
  auto stretch = std::ranges::upper_bound(reading_.stretches, offset, {}, &ShellStretch::position);
  if (stretch == reading_.stretches.begin()) {
    return kNoOrigin;
  }
  --stretch;
  return stretch->verbatim && stretch->origin != kNoOrigin
             ? stretch->origin + (offset - stretch->position)
             : stretch->origin;
}

std::vector<ShellStretch> ShellState::stretches_of(std::size_t offset, std::size_t length) const {
  std::vector<ShellStretch> part;
  const std::size_t end = offset + length;
  for (const ShellStretch& stretch : reading_.stretches) {
    const std::size_t from = std::max(stretch.position, offset);
    const std::size_t to = std::min(stretch.position + stretch.length, end);
    if (from >= to) {
      continue;
    }
    ShellStretch one = stretch;
    one.position = from - offset;
    one.length = to - from;
    one.origin = stretch.verbatim && stretch.origin != kNoOrigin
                     ? stretch.origin + (from - stretch.position)
                     : stretch.origin;
    part.push_back(std::move(one));
  }
  return part;
}

void ShellState::note_source(std::size_t offset) {
  if (source_line_ == 0) {
    source_line_ = line_at(offset);
  }
}

ShellState::Variables ShellState::exported() const {
  Variables kept;
  for (const auto& [name, variable] : variables_) {
    if (variable.exported || name.starts_with("SLURM_")) {
      kept.emplace(name, variable);
    }
  }
  return kept;
}

std::optional<ShellState::Variable> ShellState::variable(std::string_view name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? std::nullopt : std::optional(found->second);
}

void ShellState::put_back(std::string_view name, std::optional<Variable> before) {
  if (before) {
    variables_[std::string(name)] = *std::move(before);
  } else {
    forget(name);
  }
}

Result<void> ShellState::within_budget(std::size_t offset) const {
  if (spent_ > kMaxShellWork || largest_ > kMaxShellExpansion) {
    return invalid("the script's variables come to too much text",
                   fmt::format("{}:{}", name_, std::max<std::int64_t>(line_at(offset), 1)),
                   fmt::format("at most {} bytes", kMaxShellExpansion));
  }
  return {};
}

namespace {

bool is_of_the_shell(std::string_view name) {
  static constexpr std::array<std::string_view, 12> kNames{
      "RANDOM", "HOSTNAME", "SECONDS",     "PWD",  "OLDPWD",       "HOME",
      "USER",   "UID",      "BASH_SOURCE", "PATH", "EPOCHSECONDS", "PPID"};
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace

bool ShellState::is_unset(std::string_view name) const {
  const auto found = variables_.find(name);
  const bool known =
      found != variables_.end() && !(found->second.values.empty() && found->second.why.empty());
  const bool may_be = is_shell_name(name) || to_integer(name) > 0 || name == "@" || name == "*";
  return !known && may_be && !is_of_the_shell(name) && !name.starts_with("SLURM_");
}

std::string ShellState::why_unset(std::string_view name) const {
  if (name == "@" || name == "*" || name == "#") {
    return "the script's arguments are not known";
  }
  if (to_integer(name)) {
    return fmt::format("argument {} of the script is not known", name);
  }
  if (!is_shell_name(name)) {
    return fmt::format("${} is known only when the script runs", name);
  }
  if (is_of_the_shell(name)) {
    return fmt::format("{} is known only when the script runs", name);
  }
  if (name.starts_with("SLURM_")) {
    return fmt::format("{} is given by Slurm when the job starts", name);
  }
  return source_line_ == 0 ? fmt::format("{} is set nowhere in the script", name)
                           : fmt::format(
                                 "{} is set nowhere in the script (line {} reads "
                                 "another file)",
                                 name, source_line_);
}

std::int64_t ShellState::set_elsewhere(std::string_view name, const ShellSpot& spot) const {
  const auto found = variables_.find(name);
  if (found == variables_.end() || found->second.values.empty()) {
    return 0;
  }
  const std::vector<Value>& values = found->second.values;
  const bool here = std::ranges::any_of(
      values, [&](const Value& value) { return stands_in(value.branch, spot); });
  return here ? 0 : std::max<std::int64_t>(values.front().line, 1);
}

// Every look at a variable is paid for, in bytes, so that no script costs more than its budget.
Result<ShellState::Value> ShellState::value_of(std::string_view name, const ShellSpot& spot) {
  ++spent_;

  const auto found = variables_.find(name);
  if (found == variables_.end() || (found->second.values.empty() && found->second.why.empty())) {
    return not_found(why_unset(name));
  }
  if (!found->second.why.empty()) {
    return invalid(found->second.why);
  }
  const std::vector<Value>& values = found->second.values;
  std::size_t first = values.size() - 1;
  while (first > 0 && !stands_in(values[first].branch, spot)) {
    --first;
  }
  const Value& last = values.back();
  for (std::size_t i = first; i < values.size(); ++i) {
    const std::size_t size = size_of(values[i]);
    spent_ += size;
    largest_ = std::max(largest_, size);
  }
  if (spent_ > kMaxShellWork || largest_ > kMaxShellExpansion) {
    return invalid("the script's variables come to too much text");
  }
  for (std::size_t i = first; i + 1 < values.size(); ++i) {
    if (elements_text(values[i]) != elements_text(last)) {
      return invalid(fmt::format("{} is set differently in branches: lines {} and {}", name,
                                 values[i].line, last.line));
    }
  }
  Value value = last;
  if (first + 1 < values.size()) {
    for (ShellRuns& element : value.elements) {
      for (ShellRun& run : element) {
        run.verbatim = false;  // several literals say the same: changing one is not enough
      }
    }
  }
  return value;
}

}  // namespace sextant::emit
