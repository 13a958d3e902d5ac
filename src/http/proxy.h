// Which proxy a request goes through, by the values that the environment's HTTP_PROXY, HTTPS_PROXY
// and NO_PROXY have; whoever calls reads them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/url.h"

namespace sextant::http {

struct ProxySettings {
  std::string http = {};   // an http:// URL, for http; "": none
  std::string https = {};  // for https; the proxy itself is spoken to by http
  std::string none = {};   // "*", or hosts without: "example.com,.corp,host:8080"
};

// Nothing: straight to the server. A name of `none` covers its subdomains too; ranges of addresses
// (10.0.0.0/8) are not understood. Loopback never goes through a proxy.
Result<std::optional<Url>> proxy_for(const Url& url, const ProxySettings& settings);

// "Basic bmFtZTp3b3Jk" of "name:word"; %XX of the login is what it stands for.
std::string basic_credentials(std::string_view login);

}  // namespace sextant::http
