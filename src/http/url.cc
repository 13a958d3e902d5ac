#include "http/url.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::http {
namespace {

constexpr std::size_t kLongestUrl = 2048;
constexpr std::uint16_t kPlainPort = 80;
constexpr std::uint16_t kSecurePort = 443;
constexpr std::int64_t kLastPort = 65535;
constexpr std::string_view kAllowedUrl = "http://HOST[:PORT][/PATH] or https://HOST[:PORT][/PATH]";

// What may be shown of text that could hold a login.
std::string shown_url(std::string_view text) {
  const std::size_t at = text.rfind('@');
  return printable(at == std::string_view::npos ? std::string(text)
                                                : "…@" + std::string(text.substr(at + 1)));
}

bool is_host_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
         c == '_' || c == ':';
}

struct Authority {
  std::string_view host;
  std::string_view port;  // "": not said
};

std::optional<Authority> parted_authority(std::string_view text) {
  Authority parts;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) {
      return std::nullopt;
    }
    parts.host = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
  } else {
    parts.host = text.substr(0, text.find(':'));
    text.remove_prefix(parts.host.size());
  }
  if (!text.empty()) {
    if (text.front() != ':' || text.size() == 1) {
      return std::nullopt;
    }
    parts.port = text.substr(1);
  }
  return parts;
}

}  // namespace

Result<Url> parse_url(std::string_view text, std::string_view where) {
  const auto refused = [&](std::string_view why) {
    return invalid(fmt::format("'{}' is no address of a server: {}", shown_url(text), why),
                   std::string(where), std::string(kAllowedUrl));
  };
  Url url;
  std::string_view rest = text;
  if (text.size() > kLongestUrl) {
    return refused("it is too long");
  }
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) <= ' '; })) {
    return refused("it has a space or a control character");
  }
  if (rest.starts_with("https://")) {
    url.is_secure = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return refused("it begins neither with http:// nor with https://");
  }
  if (rest.find('#') != std::string_view::npos) {
    return refused("it has a fragment (#…)");
  }
  const std::size_t path_at = std::min(rest.find_first_of("/?"), rest.size());
  std::string_view authority = rest.substr(0, path_at);
  std::string_view path = rest.substr(path_at);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    url.login = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  const std::optional<Authority> parts = parted_authority(authority);
  if (!parts.has_value() || parts->host.empty() ||
      !std::ranges::all_of(parts->host, is_host_character)) {
    return refused("its host is missing or not spelled as one");
  }
  url.host = to_lower(parts->host);
  url.port = url.is_secure ? kSecurePort : kPlainPort;
  if (!parts->port.empty()) {
    const std::optional<std::int64_t> port = to_integer(parts->port);
    if (!port.has_value() || *port < 1 || *port > kLastPort) {
      return refused("its port is not a number from 1 to 65535");
    }
    url.port = static_cast<std::uint16_t>(*port);
  }
  if (const std::size_t question = path.find('?'); question != std::string_view::npos) {
    url.query = path.substr(question + 1);
    path = path.substr(0, question);
  }
  while (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  url.path = path;
  return url;
}

std::string host_text(const Url& url) {
  const bool is_v6 = url.host.find(':') != std::string::npos;
  const std::string host = is_v6 ? fmt::format("[{}]", url.host) : url.host;
  const bool is_usual = url.port == (url.is_secure ? kSecurePort : kPlainPort);
  return is_usual ? host : fmt::format("{}:{}", host, url.port);
}

std::string to_text(const Url& url) {
  return fmt::format("{}://{}{}{}", url.is_secure ? "https" : "http", host_text(url), url.path,
                     url.query.empty() ? "" : "?…");
}

std::string target_of(const Url& url, std::string_view below) {
  return fmt::format("{}{}{}{}", url.path, below, url.query.empty() ? "" : "?", url.query);
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && std::ranges::count(host, '.') == 3 &&
          std::ranges::all_of(host, [](char c) { return is_digit(c) || c == '.'; }));
}

}  // namespace sextant::http
