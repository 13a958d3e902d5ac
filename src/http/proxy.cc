#include "http/proxy.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::http {
namespace {

bool is_left_out(const Url& url, std::string_view none) {
  const std::string with_port = fmt::format("{}:{}", url.host, url.port);
  for (const std::string_view part : split(none, ',')) {
    std::string name = to_lower(trimmed(part));
    if (name == "*" || name == url.host || name == with_port) {
      return true;
    }
    if (name.empty()) {
      continue;
    }
    if (name.front() != '.') {
      name.insert(name.begin(), '.');
    }
    if (url.host.ends_with(name) || with_port.ends_with(name)) {
      return true;
    }
  }
  return false;
}

std::optional<unsigned> hex_digit(char c) {
  if (is_digit(c)) {
    return static_cast<unsigned>(c - '0');
  }
  if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) {
    return static_cast<unsigned>((c | 0x20) - 'a') + 10U;
  }
  return std::nullopt;
}

std::string percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const auto high = hex_digit(text[i + 1]);
      const auto low = hex_digit(text[i + 2]);
      if (high.has_value() && low.has_value()) {
        plain.push_back(static_cast<char>(*high * 16U + *low));
        i += 2;
        continue;
      }
    }
    plain.push_back(text[i]);
  }
  return plain;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t taken = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto byte = k < taken ? static_cast<unsigned char>(bytes[i + k]) : 0U;
      three = (three << 8U) | byte;
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text.push_back(k <= taken ? kDigits[(three >> (18U - 6U * k)) & 63U] : '=');
    }
  }
  return text;
}

}  // namespace

Result<std::optional<Url>> proxy_for(const Url& url, const ProxySettings& settings) {
  const std::string& said = url.is_secure ? settings.https : settings.http;
  if (said.empty() || is_loopback(url.host) || is_left_out(url, settings.none)) {
    return std::nullopt;
  }
  const char* const where = url.is_secure ? "HTTPS_PROXY" : "HTTP_PROXY";
  SEXTANT_TRY(Url proxy,
              parse_url(said.find("://") == std::string::npos ? "http://" + said : said, where));
  if (proxy.is_secure) {
    return invalid(fmt::format("'{}' is spoken to by https", to_text(proxy)), where,
                   "a proxy at http://HOST:PORT");
  }
  return proxy;
}

std::string basic_credentials(std::string_view login) {
  return "Basic " + base64(percent_decoded(login));
}

}  // namespace sextant::http
