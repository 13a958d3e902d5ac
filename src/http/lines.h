// Bytes as they come → lines, each as soon as it is whole.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sextant::http {

// A line ends at LF, CR or both, as in Server-Sent Events.
class LineSplitter {
 public:
  using Take = std::function<Result<void>(std::string_view line)>;

  explicit LineSplitter(std::size_t longest) : longest_(longest) {}

  // An Error where a line is longer, or of `take`.
  Result<void> feed(std::string_view bytes, const Take& take);
  // The last line, where nothing ended it.
  Result<void> end(const Take& take);

 private:
  std::size_t longest_;
  std::string begun_;
  bool after_return_ = false;
};

}  // namespace sextant::http
