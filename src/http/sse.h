// Server-Sent Events (HTML standard, section 9.2), both ways.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sextant::http {

struct ServerEvent {
  std::string name = {};  // "": a message
  std::string data = {};  // lines joined by LF
  std::string id = {};
};

// Lines → events. An event that the stream's end cuts off is none.
class EventReader {
 public:
  static constexpr std::size_t kLongestEvent = 4U << 20U;
  using Take = std::function<Result<void>(const ServerEvent&)>;

  // One line, without its end. An Error where an event is longer than kLongestEvent, or of `take`.
  Result<void> feed(std::string_view line, const Take& take);

 private:
  ServerEvent begun_;
  bool has_data_ = false;
};

// With the empty line that ends it.
std::string to_text(const ServerEvent& event);

}  // namespace sextant::http
