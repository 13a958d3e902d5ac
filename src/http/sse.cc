#include "http/sse.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace sextant::http {

Result<void> EventReader::feed(std::string_view line, const Take& take) {
  if (line.empty()) {
    ServerEvent event = std::exchange(begun_, {});
    if (!std::exchange(has_data_, false)) {
      return {};
    }
    return take(event);
  }
  const std::size_t colon = std::min(line.find(':'), line.size());
  const std::string_view field = line.substr(0, colon);
  std::string_view value = line.substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) {
    value.remove_prefix(1);
  }
  if (field == "data") {
    if (begun_.data.size() + value.size() > kLongestEvent) {
      return external("an event of the stream is longer than 4 MiB");
    }
    if (std::exchange(has_data_, true)) {
      begun_.data += '\n';
    }
    begun_.data += value;
  } else if (field == "event") {
    begun_.name = value.substr(0, kLongestEvent);
  } else if (field == "id") {
    begun_.id = value.substr(0, kLongestEvent);
  }
  return {};  // a comment, or a field of a later standard
}

std::string to_text(const ServerEvent& event) {
  std::string text;
  const auto add = [&text](std::string_view field, std::string_view value) {
    text.append(field).append(": ").append(value).append("\n");
  };
  const auto in_line = [](std::string_view value) {
    return value.substr(0, value.find_first_of("\r\n"));
  };
  if (!event.id.empty()) {
    add("id", in_line(event.id));
  }
  if (!event.name.empty()) {
    add("event", in_line(event.name));
  }
  std::string data = event.data;
  std::ranges::replace(data, '\r', '\n');
  for (const std::string_view line : split(data, '\n')) {
    add("data", line);
  }
  return text + "\n";
}

}  // namespace sextant::http
