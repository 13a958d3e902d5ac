// The lines of a log, one after the other, without copying it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace sextant::emit {

// Calls take(line, number, is_whole) for every line. "\r\n" and a lone "\r" (progress bars) end a
// line too, the latter without counting. is_whole is false for a last line that nothing ends: it
// may have been cut.
template <typename Take>
void for_each_line(std::string_view text, Take take) {
  std::int64_t number = 1;
  for (std::size_t start = 0; start < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const bool is_whole = end < text.size();
    std::string_view line = text.substr(start, end - start);
    for (std::size_t cut = line.find('\r'); cut != std::string_view::npos; cut = line.find('\r')) {
      if (cut > 0) {
        take(line.substr(0, cut), number, true);
      }
      line.remove_prefix(cut + 1);
    }
    if (!line.empty()) {
      take(line, number, is_whole);
    }
    start = end + 1;
  }
}

}  // namespace sextant::emit
