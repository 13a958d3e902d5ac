// A message of HTTP/1.1 in pieces, its body as lines, these as Server-Sent Events; and the text as
// an address of a server.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/access.h"
#include "http/lines.h"
#include "http/message_parser.h"
#include "http/proxy.h"
#include "http/sse.h"

namespace {

using namespace sextant;
using namespace sextant::http;

void read_message(MessageKind kind, std::size_t piece, std::string_view bytes) {
  LineSplitter lines(200);
  EventReader events;
  const auto take_event = [](const ServerEvent& event) {
    static_cast<void>(to_text(event));
    return Result<void>();
  };
  const auto take_line = [&](std::string_view line) { return events.feed(line, take_event); };
  MessageParser parser(kind, {.head = Bytes(1000.0), .body = Bytes(1000.0)},
                       [&](std::string_view body) { return lines.feed(body, take_line); });
  while (!bytes.empty() && !parser.is_done()) {
    const std::size_t next = std::min(piece, bytes.size());
    if (!parser.feed(bytes.substr(0, next))) {
      return;
    }
    bytes.remove_prefix(next);
  }
  if (parser.end()) {
    static_cast<void>(lines.end(take_line));
    static_cast<void>(refusal_of(parser.head().headers, {}));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  const std::string text(data + 1, data + size);
  read_message((data[0] & 1U) != 0 ? MessageKind::kRequest : MessageKind::kReply,
               1U + (data[0] >> 1U), text);
  if (const auto url = parse_url(text, "")) {
    static_cast<void>(target_of(*url, "/a"));
    static_cast<void>(proxy_for(*url, {.http = text, .https = text, .none = text}));
  }
  return 0;
}
