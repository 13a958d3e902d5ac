#include "http/access.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "http/url.h"

namespace sextant::http {
namespace {

// "localhost" of "localhost:8080", "::1" of "[::1]:8080"; "" where it is not spelled as a host.
std::string host_of(std::string_view text) {
  const Result<Url> url = parse_url(fmt::format("http://{}", text), "");
  return url && url->path.empty() && url->query.empty() && url->login.empty() ? url->host : "";
}

bool is_among(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

std::optional<std::string> refusal_of(const Headers& headers, const Access& access) {
  const auto named = [&](std::string_view name) {
    return std::ranges::count_if(
        headers, [&](const Header& header) { return to_lower(header.name) == name; });
  };
  if (named("host") != 1) {
    return "a request names one Host";
  }
  const std::string_view said = value_of(headers, "host");
  const std::string host = host_of(said);
  if (!is_loopback(host) && !is_among(access.hosts, host)) {
    return fmt::format("'{}' is not a Host that is answered here", printable(said));
  }
  if (named("origin") == 0) {
    return std::nullopt;
  }
  const std::string_view origin = value_of(headers, "origin");
  if (named("origin") == 1) {
    if (is_among(access.origins, origin)) {
      return std::nullopt;
    }
    const Result<Url> page = parse_url(origin, "");
    if (access.from_loopback_pages && page && page->path.empty() && page->query.empty() &&
        page->login.empty() && is_loopback(page->host)) {
      return std::nullopt;
    }
  }
  return fmt::format("pages of '{}' are not answered here", printable(origin));
}

}  // namespace sextant::http
