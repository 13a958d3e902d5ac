// Who may speak to a server on this machine. A browser sends pages' requests to it too, so a
// request must name the server as this machine's user does (Host: against DNS rebinding), and one
// that a page made (Origin) must come from a page that is known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace sextant::http {

struct Access {
  std::vector<std::string> hosts = {};    // beside localhost, 127.0.0.1 and [::1]; without port
  std::vector<std::string> origins = {};  // "https://example.com", beside pages of this machine
  // A page of any port of this machine may ask.
  bool from_loopback_pages = true;
};

// Why the request is refused, for its sender; nothing: it may be answered. One without an Origin is
// no page's.
std::optional<std::string> refusal_of(const Headers& headers, const Access& access);

}  // namespace sextant::http
