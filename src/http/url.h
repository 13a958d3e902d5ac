// Where a server is: "https://api.example.com/v1".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sextant::http {

struct Url {
  bool is_secure = false;
  std::string host;  // without the brackets of an IPv6 address
  std::uint16_t port = 80;
  std::string path = {};   // "" or "/v1": without a slash at its end
  std::string query = {};  // without its "?"
  std::string login = {};  // "name:password"; never shown
};

// "scheme://[login@]host[:port][/path][?query]"; scheme is http or https. An Error at `where` never
// shows a login. A fragment is refused.
Result<Url> parse_url(std::string_view text, std::string_view where);

// To be shown: without its login, and "?…" of a query, which may hold a key.
std::string to_text(const Url& url);
// "host:port" as headers have it, the port only where the scheme does not say it: "[::1]:8080".
std::string host_text(const Url& url);
// "/v1/chat/completions?query": a path below the URL's own. REQUIRES: `below` begins with "/".
std::string target_of(const Url& url, std::string_view below);

// localhost, 127.0.0.0/8 and ::1.
bool is_loopback(std::string_view host);

}  // namespace sextant::http
