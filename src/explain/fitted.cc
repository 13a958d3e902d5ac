#include "explain/fitted.h"

#include <algorithm>

namespace sextant::explain {
namespace {

constexpr std::size_t kNarrowest = 40;  // narrower terminals wrap by themselves
constexpr std::size_t kFurther = 2;

// What stands on one place of a terminal, with the attributes before it.
std::size_t end_of_glyph(std::string_view text, std::size_t at) {
  const auto is_inside = [&text](std::size_t i) {
    return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
  };
  while (at < text.size() && text[at] == '\x1b') {
    const std::size_t end = text.find('m', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  if (at < text.size()) {
    ++at;
  }
  while (is_inside(at)) {
    ++at;
  }
  // Attributes behind it end with it.
  while (at + 1 < text.size() && text[at] == '\x1b') {
    const std::size_t end = text.find('m', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  return at;
}

bool may_break_after(std::string_view glyph) {
  const char last = glyph.empty() ? '\0' : glyph.back();
  return last == ' ' || last == ',' || last == '+';
}

// Where a line's last field begins, not beyond half of the width.
std::size_t hanging(std::string_view line, std::size_t width) {
  std::size_t leading = 0;
  while (leading < line.size() && line[leading] == ' ') {
    ++leading;
  }
  std::size_t indent = leading + kFurther;
  std::size_t place = 0;
  std::size_t spaces = 0;
  for (std::size_t at = 0; at < line.size() && place <= width / 2;) {
    const std::size_t end = end_of_glyph(line, at);
    const bool is_space = line.substr(at, end - at) == " ";
    if (!is_space && spaces >= kFurther && place > leading) {
      indent = place;
    }
    spaces = is_space ? spaces + 1 : 0;
    ++place;
    at = end;
  }
  return std::min(indent, width / 2);
}

void add_wrapped(std::string_view line, std::size_t width, std::string& text) {
  const std::size_t indent = hanging(line, width);
  std::size_t start = 0;
  std::size_t before = 0;  // places that the indentation takes
  while (start < line.size()) {
    std::size_t place = before;
    std::size_t at = start;
    std::size_t last = start;  // where it may be broken
    while (at < line.size() && place < width) {
      const std::size_t end = end_of_glyph(line, at);
      ++place;
      if (may_break_after(line.substr(at, end - at)) && place > indent) {
        last = end;
      }
      at = end;
    }
    const std::size_t end = at == line.size() ? at : last > start ? last : at;
    std::string_view part = line.substr(start, end - start);
    while (!part.empty() && part.back() == ' ') {
      part.remove_suffix(1);
    }
    text += std::string(before, ' ') + std::string(part) + "\n";
    start = end;
    while (start < line.size() && line[start] == ' ') {
      ++start;
    }
    before = indent;
  }
}

}  // namespace

std::string fitted(std::string_view text, std::size_t width) {
  if (width == 0) {
    return std::string(text);
  }
  width = std::max(width, kNarrowest);
  std::string made;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    if (line.size() <= width) {
      made += line;
      made += end < text.size() ? "\n" : "";
    } else {
      add_wrapped(line, width, made);
    }
    start = end + 1;
  }
  return made;
}

std::string fitted(std::string_view text, const Style& style) {
  return style.format == Format::kTable ? fitted(text, style.width) : std::string(text);
}

}  // namespace sextant::explain
