#include "http/lines.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sextant::http {

Result<void> LineSplitter::feed(std::string_view bytes, const Take& take) {
  while (!bytes.empty()) {
    if (std::exchange(after_return_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = std::min(bytes.find_first_of("\r\n"), bytes.size());
    if (begun_.size() + end > longest_) {
      return external(fmt::format("a line is longer than {} bytes", longest_));
    }
    begun_ += bytes.substr(0, end);
    if (end == bytes.size()) {
      break;
    }
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    const std::string line = std::exchange(begun_, {});
    SEXTANT_CHECK_OK(take(line));
  }
  return {};
}

Result<void> LineSplitter::end(const Take& take) {
  if (begun_.empty()) {
    return {};
  }
  const std::string line = std::exchange(begun_, {});
  return take(line);
}

}  // namespace sextant::http
