#include "http/client.h"

#include <array>
#include <atomic>

#include <gtest/gtest.h>

#include "http/proxy.h"
#include "http/raw_server_testing.h"

namespace sextant::http {
namespace {

const char* const kSecret = "sk-planted-0123456789";

Request asking() {
  return {.method = "POST",
          .target = "/v1/chat",
          .headers = {{"Authorization", std::string("Bearer ") + kSecret}},
          .body = "{}"};
}

// What is said of a request that fails; nobody's secret is in it.
std::string failure(const Result<Reply>& reply) {
  EXPECT_FALSE(reply);
  const std::string text = reply ? "" : to_text(reply.error());
  EXPECT_EQ(text.find(kSecret), std::string::npos) << text;
  return text;
}

TEST(Client, ARequestIsSentAsItIsAndItsReplyRead) {
  RawServer server({"HTTP/1.1 200 OK\r\nX-Kind: good\r\nContent-Length: 5\r\n\r\nhello"});
  const auto reply = reply_to(asking(), server.url(), {});
  ASSERT_TRUE(reply) << to_text(reply.error());
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "hello");
  EXPECT_EQ(value_of(reply->headers, "x-kind"), "good");
  ASSERT_EQ(server.asked().size(), 1U);
  EXPECT_EQ(server.asked()[0].substr(0, 25), "POST /v1/chat HTTP/1.1\r\nH");
  EXPECT_NE(server.asked()[0].find("Host: " + server.address() + "\r\n"), std::string::npos);
  EXPECT_NE(server.asked()[0].find("Content-Length: 2\r\n"), std::string::npos);
}

TEST(Client, LinesComeOneByOneAndOnlyOfAReplyThatIsFine) {
  RawServer server(
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n"
       "5\r\ntwo\nt\r\n4\r\nhree\r\n0\r\n\r\n",
       "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 5\r\n\r\nlater"});
  std::vector<std::string> lines;
  const TakeLine take = [&](std::string_view line) {
    lines.emplace_back(line);
    return Result<void>();
  };
  const auto fine = reply_to(asking(), server.url(), {}, take);
  ASSERT_TRUE(fine) << to_text(fine.error());
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(fine->body, "");
  const auto busy = reply_to(asking(), server.url(), {}, take);
  ASSERT_TRUE(busy);
  EXPECT_EQ(busy->status, 429);
  EXPECT_EQ(busy->body, "later");
  EXPECT_EQ(lines.size(), 3U);
}

TEST(Client, WhoTakesTheLinesMayEndTheRequest) {
  RawServer server({"HTTP/1.1 200 OK\r\n\r\na\nb\n"});
  const auto reply = reply_to(asking(), server.url(), {}, [](std::string_view) -> Result<void> {
    return external("enough of it");
  });
  EXPECT_NE(failure(reply).find("enough of it"), std::string::npos);
}

TEST(Client, InterimRepliesArePassedOver) {
  RawServer server(
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
       "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"});
  const auto reply = reply_to(asking(), server.url(), {});
  ASSERT_TRUE(reply) << to_text(reply.error());
  EXPECT_EQ(reply->body, "ok");
}

TEST(Client, AStreamThatIsCutIsAnErrorWithThePlace) {
  RawServer server({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"});
  const std::string text = failure(reply_to(asking(), server.url(), {}));
  EXPECT_EQ(text, "http://" + server.address() + ": the connection ended within the message");
}

TEST(Client, NobodyThereIsAnErrorWithThePlace) {
  const std::uint16_t port = Listener::open("127.0.0.1", 0)->port();  // free again
  const auto url = parse_url("http://127.0.0.1:" + std::to_string(port), "");
  EXPECT_NE(failure(reply_to(asking(), *url, {})).find("cannot connect: Connection refused"),
            std::string::npos);
}

TEST(Client, ASilentServerIsNotWaitedForBeyondTheLimit) {
  RawServer server({"…", "…"});
  const auto late = reply_to(asking(), server.url(), {.silence_limit = 20_ms});
  EXPECT_NE(failure(late).find("no time left while waiting for an answer"), std::string::npos);
  const auto whole = reply_to(asking(), server.url(), {.whole_limit = 20_ms});
  EXPECT_NE(failure(whole).find("no time left"), std::string::npos);
}

TEST(Client, WhoSaysStopIsHeard) {
  RawServer server({"HTTP/1.1 200 OK\r\n\r\nline\nnever whole"});
  std::atomic<bool> stop = false;
  const auto reply =
      reply_to(asking(), server.url(), {.stop = &stop}, [&](std::string_view) -> Result<void> {
        stop = true;
        return external("stopped");
      });
  EXPECT_NE(failure(reply).find("stopped"), std::string::npos);
  // Before it is begun, too.
  EXPECT_NE(failure(reply_to(asking(), server.url(), {.stop = &stop})).find("stopped"),
            std::string::npos);
}

TEST(Client, WhatIsThereIsNotReadByWhoHasNoPatienceLeft) {
  const auto listener = Listener::open("127.0.0.1", 0);
  ASSERT_TRUE(listener);
  const Patience patience = patience_of(20_s, nullptr);
  const auto sender = connected("127.0.0.1", listener->port(), patience);
  ASSERT_TRUE(sender);
  const auto reader = listener->accept(patience);
  ASSERT_TRUE(reader && *reader);
  ASSERT_TRUE((*sender)->write("abcdef", patience));
  std::array<char, 2> piece{};
  ASSERT_TRUE((*reader)->read(piece, patience));  // it has come
  const std::atomic<bool> stop = true;
  EXPECT_FALSE((*reader)->read(piece, patience_of(0_s, nullptr)));
  EXPECT_FALSE((*reader)->read(piece, {.stop = &stop}));
  EXPECT_EQ((*reader)->read(piece, patience).value_or(0), 2U);
}

TEST(Client, AReplyThatIsTooLongIsNotHeld) {
  RawServer server({"HTTP/1.1 200 OK\r\n\r\n" + std::string(500, 'x'),
                    "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + std::string(500, 'x'),
                    "HTTP/1.1 200 OK\r\nX: " + std::string(99999, 'x')});
  const ClientOptions options{.limits = {.body = 400_B}, .longest_line = 300};
  const auto none = [](std::string_view) { return Result<void>(); };
  EXPECT_NE(failure(reply_to(asking(), server.url(), options, none)).find("longer than"),
            std::string::npos);
  EXPECT_NE(failure(reply_to(asking(), server.url(), options)).find("body is longer"),
            std::string::npos);
  EXPECT_NE(failure(reply_to(asking(), server.url(), options)).find("headers are longer"),
            std::string::npos);
}

TEST(Client, AHeaderCannotSmuggleAnotherIn) {
  Request request = asking();
  request.headers[0].value += "\r\nX-Evil: 1";
  const auto url = parse_url("http://127.0.0.1:9", "");
  EXPECT_NE(failure(reply_to(request, *url, {})).find("the header Authorization has a control"),
            std::string::npos);
  request = asking();
  request.target = "/a HTTP/1.1\r\nX: y";
  EXPECT_NE(failure(reply_to(request, *url, {})).find("path of the request"), std::string::npos);
}

TEST(Client, AProxyIsAskedForPlainHttpByWholeAddress) {
  RawServer proxy({"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"});
  const auto through = parse_url("http://me:word@" + proxy.address(), "");
  const auto reply =
      reply_to(asking(), *parse_url("http://far.example:81/v1", ""), {.proxy = *through});
  ASSERT_TRUE(reply) << to_text(reply.error());
  EXPECT_EQ(proxy.asked()[0].substr(0, 45), "POST http://far.example:81/v1/chat HTTP/1.1\r\n");
  EXPECT_NE(proxy.asked()[0].find("Proxy-Authorization: " + basic_credentials("me:word")),
            std::string::npos);
}

TEST(Client, AProxyIsAskedForAWayThroughToHttps) {
  RawServer proxy({"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"});
  const auto through = parse_url("http://me:word@" + proxy.address(), "");
  const std::string text =
      failure(reply_to(asking(), *parse_url("https://far.example/v1", ""), {.proxy = *through}));
  EXPECT_NE(text.find("the proxy " + proxy.address() + " answers 407"), std::string::npos) << text;
  EXPECT_EQ(text.find("word"), std::string::npos);
  EXPECT_EQ(proxy.asked()[0].substr(0, 39), "CONNECT far.example:443 HTTP/1.1\r\nHost:");
  // What is meant for the server is not told to the proxy.
  EXPECT_EQ(proxy.asked()[0].find(kSecret), std::string::npos);
}

}  // namespace
}  // namespace sextant::http
