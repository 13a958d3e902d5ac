#include "emit/shell_sources.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sextant::emit {

const ShellSources::Source& ShellSources::add(std::string_view text, std::string_view name) {
  Source source{std::string(text), std::string(name), bytes()};
  source.line_starts.push_back(0);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      source.line_starts.push_back(i + 1);
    }
  }
  sources_.push_back(std::move(source));
  return sources_.back();
}

std::size_t ShellSources::bytes() const {
  return sources_.empty() ? 0 : sources_.back().base + sources_.back().text.size() + 1;
}

const ShellSources::Source* ShellSources::source_of(std::size_t origin) const {
  for (const Source& source : sources_) {
    if (origin >= source.base && origin <= source.base + source.text.size()) {
      return &source;
    }
  }
  return nullptr;
}

std::int64_t ShellSources::line_of(std::size_t origin) const {
  const Source* source = source_of(origin);
  if (source == nullptr) {
    return 0;
  }
  return std::ranges::upper_bound(source->line_starts, origin - source->base) -
         source->line_starts.begin();
}

std::string ShellSources::line_text(std::size_t origin) const {
  const Source* source = source_of(origin);
  return source == nullptr || source == &sources_.front()
             ? std::to_string(line_of(origin))
             : fmt::format("{} of {}", line_of(origin), source->name);
}

Place ShellSources::place(std::size_t origin, std::size_t length) const {
  const Source* source = source_of(origin);
  if (source == nullptr) {
    return {.file = sources_.empty() ? std::string() : sources_.front().name};
  }
  return {source->name, line_of(origin), origin - source->base, length};
}

}  // namespace sextant::emit
