#include "http/url.h"

#include <gtest/gtest.h>

#include "http/proxy.h"

namespace sextant::http {
namespace {

TEST(Url, PartsAreHostPortPathAndQuery) {
  const auto url = parse_url("https://User:pa%40ss@API.example.com:8443/v1/?api-version=3", "");
  ASSERT_TRUE(url) << to_text(url.error());
  EXPECT_TRUE(url->is_secure);
  EXPECT_EQ(url->host, "api.example.com");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->path, "/v1");
  EXPECT_EQ(url->query, "api-version=3");
  EXPECT_EQ(url->login, "User:pa%40ss");
  EXPECT_EQ(target_of(*url, "/responses"), "/v1/responses?api-version=3");
  EXPECT_EQ(to_text(*url), "https://api.example.com:8443/v1?…");
}

TEST(Url, TheSchemeSaysThePort) {
  EXPECT_EQ(parse_url("http://a", "")->port, 80);
  EXPECT_EQ(parse_url("https://a/", "")->port, 443);
  EXPECT_EQ(host_text(*parse_url("https://a:443", "")), "a");
  EXPECT_EQ(host_text(*parse_url("http://a:443", "")), "a:443");
  EXPECT_EQ(host_text(*parse_url("http://[::1]:8080/v1", "")), "[::1]:8080");
}

TEST(Url, WhatIsNoneIsRefusedWithWhatIsAllowed) {
  for (const char* text : {"", "localhost:8080", "ftp://a", "http://", "http://a:0",
                           "http://a:65536", "http://a:x", "http://a:", "http://[::1", "http://a b",
                           "http://a\r\nX: y", "http://a/#part", "http://a\"b", "http://[::1]x"}) {
    const auto url = parse_url(text, "OPENAI_BASE_URL");
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().where, "OPENAI_BASE_URL");
    EXPECT_NE(url.error().allowed.find("http://HOST"), std::string::npos);
  }
  EXPECT_FALSE(parse_url("http://" + std::string(3000, 'a'), ""));
}

TEST(Url, ALoginIsNeverShown) {
  const auto url = parse_url("https://me:hunter2@host:99999", "HTTPS_PROXY");
  ASSERT_FALSE(url);
  EXPECT_EQ(to_text(url.error()).find("hunter2"), std::string::npos);
  EXPECT_EQ(to_text(*parse_url("http://me:hunter2@host", "")).find("hunter2"), std::string::npos);
  EXPECT_EQ(to_text(*parse_url("http://host/v1?key=hunter2", "")), "http://host/v1?…");
}

TEST(Url, LoopbackIsKnownBySight) {
  for (const char* host : {"localhost", "127.0.0.1", "127.9.9.9", "::1"}) {
    EXPECT_TRUE(is_loopback(host)) << host;
  }
  for (const char* host : {"", "127.evil.example.com", "localhost.evil.com", "10.0.0.1", "::2"}) {
    EXPECT_FALSE(is_loopback(host)) << host;
  }
}

std::string proxy_of(const char* url, const ProxySettings& settings) {
  const auto proxy = proxy_for(*parse_url(url, ""), settings);
  return !proxy ? "error" : !proxy->has_value() ? "none" : host_text(**proxy);
}

TEST(Proxy, ItIsTheOneOfTheScheme) {
  const ProxySettings settings{.http = "http://plain:3128", .https = "secure:3129"};
  EXPECT_EQ(proxy_of("http://a.com", settings), "plain:3128");
  EXPECT_EQ(proxy_of("https://a.com", settings), "secure:3129");
  EXPECT_EQ(proxy_of("https://a.com", {}), "none");
}

TEST(Proxy, LoopbackAndWhatIsLeftOutGoStraight) {
  const ProxySettings settings{.http = "http://p:1", .none = "example.com, .corp ,host:8080"};
  for (const char* url :
       {"http://localhost:1", "http://127.0.0.1", "http://[::1]", "http://example.com",
        "http://a.example.com", "http://x.corp", "http://host:8080"}) {
    EXPECT_EQ(proxy_of(url, settings), "none") << url;
  }
  for (const char* url : {"http://notexample.com", "http://host:81", "http://example.com.evil"}) {
    EXPECT_EQ(proxy_of(url, settings), "p:1") << url;
  }
  EXPECT_EQ(proxy_of("http://a", {.http = "http://p:1", .none = "*"}), "none");
}

TEST(Proxy, WhatIsNoneIsAnErrorWithoutItsLogin) {
  const auto proxy = proxy_for(*parse_url("https://a.com", ""), {.https = "https://me:hunter2@p"});
  ASSERT_FALSE(proxy);
  EXPECT_EQ(proxy.error().where, "HTTPS_PROXY");
  EXPECT_EQ(to_text(proxy.error()).find("hunter2"), std::string::npos);
}

TEST(Proxy, CredentialsAreRfc7617s) {
  // RFC 7617, section 2: user-id "Aladdin", password "open sesame".
  EXPECT_EQ(basic_credentials("Aladdin:open%20sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
}

}  // namespace
}  // namespace sextant::http
