#include "front/mcp/http.h"

#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "http/client.h"

namespace sextant::front::mcp {
namespace {

Offer http_offer() {
  Offer offer;
  offer.info = {{"name", "test"}, {"version", "1"}};
  offer.tools = {{{{"name", "now"}}, [](const Call&) -> Handled { return Json{{"now", true}}; }},
                 {{{"name", "tells"}},
                  [](const Call& call) -> Handled {
                    call.progress(1, 2, "half");
                    return Json{{"told", true}};
                  }},
                 {{{"name", "wait"}}, [](const Call& call) -> Handled {
                    while (!call.stop.load()) {
                      std::this_thread::yield();
                    }
                    return Json{{"stopped", true}};
                  }}};
  offer.read = [](const std::string&, const Call&) -> Handled { return Json(nullptr); };
  offer.complete = [](const Call&) -> Handled { return Json::object(); };
  return offer;
}

// A server of its own on a free port.
class McpHttp : public testing::Test {
 protected:
  McpHttp() {
    std::promise<std::uint16_t> port;
    std::future<std::uint16_t> listening = port.get_future();
    thread_ = std::thread([this, &port] {
      const auto served = serve_http(
          server_, 0, [&port](std::uint16_t at) { port.set_value(at); },
          [this] { end_.get_future().wait(); });
      EXPECT_TRUE(served);
    });
    port_ = listening.get();
  }
  ~McpHttp() override {
    end_.set_value();
    thread_.join();
  }

  http::Reply sent(const std::string& method, const std::string& body, http::Headers headers = {},
                   const std::string& target = "/mcp") const {
    if (http::value_of(headers, "Content-Type").empty()) {
      headers.push_back({"Content-Type", "application/json"});
    }
    headers.push_back({"Accept", "application/json, text/event-stream"});
    const auto reply =
        http::reply_to({.method = method, .target = target, .headers = headers, .body = body},
                       *http::parse_url("http://127.0.0.1:" + std::to_string(port_), ""), {});
    EXPECT_TRUE(reply) << to_text(reply.error());
    return reply ? *reply : http::Reply{};
  }
  // A call of the stateless era, with the headers it needs.
  http::Reply call(const std::string& tool, Json meta = Json::object()) const {
    meta["io.modelcontextprotocol/protocolVersion"] = kStatelessVersion;
    meta["io.modelcontextprotocol/clientCapabilities"] = Json::object();
    const Json message{{"jsonrpc", "2.0"},
                       {"id", 1},
                       {"method", "tools/call"},
                       {"params", {{"name", tool}, {"_meta", meta}}}};
    return sent("POST", one_line(message),
                {{"MCP-Protocol-Version", std::string(kStatelessVersion)},
                 {"Mcp-Method", "tools/call"},
                 {"Mcp-Name", tool}});
  }
  std::string session() const {
    const http::Reply reply =
        sent("POST", R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})");
    return std::string(http::value_of(reply.headers, "Mcp-Session-Id"));
  }

 private:
  Server server_{http_offer()};
  std::promise<void> end_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

TEST_F(McpHttp, AnAnswerIsJsonAndProgressMakesItAStreamOfEvents) {
  const http::Reply plain = call("now");
  EXPECT_EQ(plain.status, 200);
  EXPECT_EQ(Json::parse(plain.body)["result"]["now"], true);
  const http::Reply stream = call("tells", {{"progressToken", "t"}});
  EXPECT_EQ(http::value_of(stream.headers, "Content-Type"), "text/event-stream");
  const std::size_t told = stream.body.find("notifications/progress");
  EXPECT_LT(told, stream.body.find("\"told\":true"));
  EXPECT_NE(stream.body.find("\"told\":true"), std::string::npos);
  EXPECT_EQ(http::value_of(call("tells").headers, "Content-Type"), "application/json");
}

TEST_F(McpHttp, WhatIsNoMessageHasItsStatus) {
  EXPECT_EQ(sent("POST", "{}", {}, "/other").status, 404);
  EXPECT_EQ(sent("GET", "").status, 405);
  EXPECT_EQ(sent("POST", "{}", {{"Content-Type", "text/plain"}}).status, 415);
  EXPECT_EQ(sent("POST", "{]").status, 400);
  EXPECT_EQ(sent("POST", std::string(kMostMessageBytes + 1, ' ')).status, 400);
  EXPECT_EQ(sent("POST", R"({"jsonrpc":"2.0","method":"notifications/initialized"})").status, 202);
  EXPECT_EQ(sent("POST", "{}", {{"Origin", "https://evil.example.com"}}).status, 403);
}

TEST_F(McpHttp, AStatelessErrorIsAnHttpErrorAndAHandshakesIsNot) {
  const std::string unknown = R"({"jsonrpc":"2.0","id":1,"method":"nope"})";
  EXPECT_EQ(sent("POST", unknown).status, 200);
  EXPECT_EQ(sent("POST", unknown, {{"MCP-Protocol-Version", "2026-07-28"}}).status, 400);
  EXPECT_EQ(sent("POST", unknown, {{"MCP-Protocol-Version", "1999-01-01"}}).status, 400);
}

TEST_F(McpHttp, ASessionBeginsWithTheHandshakeAndEndsWhereItIsDeleted) {
  const std::string id = session();
  EXPECT_EQ(id.size(), 32U);
  EXPECT_NE(id, session());
  const std::string ping = R"({"jsonrpc":"2.0","id":2,"method":"ping"})";
  EXPECT_EQ(sent("POST", ping, {{"Mcp-Session-Id", id}}).status, 200);
  EXPECT_EQ(sent("DELETE", "", {{"Mcp-Session-Id", id}}).status, 204);
  EXPECT_EQ(sent("POST", ping, {{"Mcp-Session-Id", id}}).status, 404);
  EXPECT_EQ(sent("DELETE", "", {{"Mcp-Session-Id", id}}).status, 404);
}

TEST_F(McpHttp, ARequestIsCancelledWithinItsSession) {
  const std::string id = session();
  std::atomic<bool> is_answered = false;
  // It may not have arrived when it is cancelled first.
  std::thread cancels([&] {
    while (!is_answered.load()) {
      const http::Reply reply =
          sent("POST",
               R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})",
               {{"Mcp-Session-Id", id}});
      EXPECT_EQ(reply.status, 202);
    }
  });
  const http::Reply reply =
      sent("POST", R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait"}})",
           {{"Mcp-Session-Id", id}});
  is_answered = true;
  cancels.join();
  EXPECT_NE(reply.body.find("stopped"), std::string::npos);
}

}  // namespace
}  // namespace sextant::front::mcp
