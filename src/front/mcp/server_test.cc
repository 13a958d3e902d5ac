#include "front/mcp/server.h"

#include <gtest/gtest.h>

namespace sextant::front::mcp {
namespace {

Offer small_offer() {
  Offer offer;
  offer.info = {{"name", "test"}, {"version", "1"}};
  offer.tools = {{{{"name", "echo"}},
                  [](const Call& call) -> Handled {
                    call.progress(1, 2, "half");
                    return Json{{"content", Json::array()},
                                {"saw", object_of(call.params, "arguments")}};
                  }},
                 {{{"name", "logs"}},
                  [](const Call& call) -> Handled {
                    call.log(LogLevel::kDebug, "detail");
                    call.log(LogLevel::kWarning, "careful");
                    return Json{{"content", Json::array()}};
                  }},
                 {{{"name", "breaks"}},
                  [](const Call&) -> Handled { throw std::runtime_error("secret inside"); }}};
  offer.read = [](const std::string& uri, const Call&) -> Handled {
    return uri == "test://a" ? Json{{"contents", Json::array()}} : Json(nullptr);
  };
  offer.complete = [](const Call&) { return Json::object(); };
  return offer;
}

const Server& server() {
  static const Server kServer(small_offer());
  return kServer;
}

Json stateless_meta(const std::string& version = std::string(kStatelessVersion)) {
  return {{"io.modelcontextprotocol/protocolVersion", version},
          {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
}

Request stateless(const std::string& method, Json params = Json::object()) {
  params["_meta"] = stateless_meta();
  return {1, method, std::move(params)};
}

struct Asked {
  Answer answer;
  std::vector<Json> told;
};

Asked ask_server(const Request& request, bool handshaken = false,
                 std::optional<RequestHeaders> headers = {},
                 std::atomic<LogLevel>* log_level = nullptr) {
  const std::atomic<bool> stop = false;
  Asked asked;
  asked.answer =
      server().answer(request, {.stop = stop,
                                .notify = [&](const Json& one) { asked.told.push_back(one); },
                                .handshaken = handshaken,
                                .log_level = log_level,
                                .headers = std::move(headers)});
  return asked;
}

int code_of(const Asked& asked) {
  return asked.answer.is_error() ? asked.answer.message["error"]["code"].get<int>() : 0;
}

RequestHeaders right_headers(const std::string& method, std::optional<std::string> name = {}) {
  return {std::string(kStatelessVersion), method, std::move(name)};
}

TEST(McpServer, AStatelessRequestNeedsNothingBeforeIt) {
  const Asked asked = ask_server(stateless("server/discover"));
  const Json& result = asked.answer.message["result"];
  EXPECT_EQ(result["supportedVersions"], Json::array({kStatelessVersion}));
  EXPECT_EQ(result["resultType"], "complete");
  EXPECT_EQ(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "test");
  EXPECT_TRUE(result.contains("ttlMs"));
}

TEST(McpServer, AStatelessRequestSaysItsVersionAndCapabilities) {
  Request request = stateless("tools/list");
  request.params["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
  EXPECT_EQ(code_of(ask_server(request)), kInvalidParams);
  request.params["_meta"] = stateless_meta("1999-01-01");
  const Asked asked = ask_server(request);
  EXPECT_EQ(code_of(asked), kUnsupportedVersion);
  EXPECT_EQ(asked.answer.message["error"]["data"]["requested"], "1999-01-01");
  EXPECT_EQ(asked.answer.http_status, 400);
}

TEST(McpServer, WithoutAVersionAHandshakeComesFirst) {
  EXPECT_EQ(code_of(ask_server({1, "tools/list"})), kInvalidParams);
  EXPECT_EQ(code_of(ask_server({1, "ping"})), 0);
  const Asked asked =
      ask_server({1, "initialize", {{"protocolVersion", "2025-11-25"}, {"capabilities", {}}}});
  EXPECT_EQ(asked.answer.message["result"]["protocolVersion"], "2025-11-25");
  EXPECT_FALSE(asked.answer.message["result"].contains("resultType"));
  const Asked after = ask_server({2, "tools/list"}, /*handshaken=*/true);
  EXPECT_EQ(after.answer.message["result"]["tools"].size(), 3U);
  EXPECT_FALSE(after.answer.message["result"].contains("ttlMs"));
}

TEST(McpServer, AnUnknownVersionOfTheHandshakeIsAnsweredWithOurs) {
  const Asked asked = ask_server({1, "initialize", {{"protocolVersion", "2031-01-01"}}});
  EXPECT_EQ(asked.answer.message["result"]["protocolVersion"], kHandshakeVersion);
}

TEST(McpServer, MethodsOfOneEraAreNotOfTheOther) {
  for (const char* method : {"initialize", "ping", "logging/setLevel", "nope"}) {
    const Asked asked = ask_server(stateless(method));
    EXPECT_EQ(code_of(asked), kMethodNotFound) << method;
    EXPECT_EQ(asked.answer.http_status, 404) << method;
  }
  const Asked asked = ask_server({1, "server/discover"}, /*handshaken=*/true);
  EXPECT_EQ(code_of(asked), kMethodNotFound);
  EXPECT_EQ(asked.answer.http_status, 200);
}

TEST(McpServer, NothingIsLoggedUntilALevelIsAskedFor) {
  std::atomic<LogLevel> level = LogLevel::kSilent;
  const Request call{1, "tools/call", {{"name", "logs"}}};
  EXPECT_TRUE(ask_server(call, true, {}, &level).told.empty());
  EXPECT_TRUE(ask_server(stateless("tools/call", {{"name", "logs"}})).told.empty());
}

TEST(McpServer, WhatIsLoggedIsOfTheLevelAskedForOrAbove) {
  std::atomic<LogLevel> level = LogLevel::kSilent;
  const Request set{1, "logging/setLevel", {{"level", "notice"}}};
  EXPECT_EQ(ask_server(set, true, {}, &level).answer.message["result"], Json::object());
  const Asked asked = ask_server({2, "tools/call", {{"name", "logs"}}}, true, {}, &level);
  ASSERT_EQ(asked.told.size(), 1U);
  EXPECT_EQ(asked.told[0]["method"], "notifications/message");
  EXPECT_EQ(asked.told[0]["params"],
            (Json{{"level", "warning"}, {"logger", "sextant"}, {"data", "careful"}}));
}

TEST(McpServer, AStatelessRequestSaysItsLevelItself) {
  Request call = stateless("tools/call", {{"name", "logs"}});
  call.params["_meta"]["io.modelcontextprotocol/logLevel"] = "debug";
  EXPECT_EQ(ask_server(call).told.size(), 2U);
  call.params["_meta"]["io.modelcontextprotocol/logLevel"] = "loud";
  EXPECT_EQ(code_of(ask_server(call)), kInvalidParams);
}

TEST(McpServer, ALevelThatIsNoneOrThatNobodyCanKeepIsRefused) {
  std::atomic<LogLevel> level = LogLevel::kSilent;
  const Request set{1, "logging/setLevel", {{"level", "loud"}}};
  EXPECT_EQ(code_of(ask_server(set, true, {}, &level)), kInvalidParams);
  EXPECT_EQ(level.load(), LogLevel::kSilent);
  const Request nowhere{1, "logging/setLevel", {{"level", "info"}}};
  EXPECT_EQ(code_of(ask_server(nowhere, true)), kInvalidRequest);
}

TEST(McpServer, HeadersRepeatWhatTheBodySays) {
  const Request call = stateless("tools/call", {{"name", "echo"}});
  const auto code = [&](RequestHeaders headers) {
    return code_of(ask_server(call, false, headers));
  };
  EXPECT_EQ(code(right_headers("tools/call", "echo")), 0);
  EXPECT_EQ(code(right_headers("tools/call", "=?base64?ZWNobw==?=")), 0);
  EXPECT_EQ(code(right_headers("tools/call", "=?base64?ZWNobw=?=")), kHeaderMismatch);
  EXPECT_EQ(code(right_headers("tools/call", "other")), kHeaderMismatch);
  EXPECT_EQ(code(right_headers("tools/call")), kHeaderMismatch);
  EXPECT_EQ(code(right_headers("TOOLS/CALL", "echo")), kHeaderMismatch);
  EXPECT_EQ(code({"2025-11-25", "tools/call", "echo"}), kHeaderMismatch);
  EXPECT_EQ(code({}), kHeaderMismatch);
}

TEST(McpServer, AToolThatIsNotThereIsAnErrorAndSoAreArgumentsThatAreNoObject) {
  EXPECT_EQ(code_of(ask_server(stateless("tools/call", {{"name", "rm"}}))), kInvalidParams);
  EXPECT_EQ(code_of(ask_server(stateless("tools/call", {{"name", 7}}))), kInvalidParams);
  EXPECT_EQ(code_of(ask_server(stateless("tools/call", {{"name", "echo"}, {"arguments", 1}}))),
            kInvalidParams);
  EXPECT_EQ(code_of(ask_server(stateless("tools/list", {{"cursor", "x"}}))), kInvalidParams);
}

TEST(McpServer, AResourceThatIsNotThereIsSaidAsEachEraSaysIt) {
  const Asked now = ask_server(stateless("resources/read", {{"uri", "test://b"}}));
  EXPECT_EQ(code_of(now), kInvalidParams);
  EXPECT_EQ(now.answer.message["error"]["data"]["uri"], "test://b");
  EXPECT_EQ(code_of(ask_server({1, "resources/read", {{"uri", "test://b"}}}, true)),
            kResourceNotFound);
  EXPECT_EQ(code_of(ask_server(stateless("resources/read", {{"uri", "test://a"}}))), 0);
}

TEST(McpServer, ProgressIsToldToWhoAsksForIt) {
  Request request = stateless("tools/call", {{"name", "echo"}});
  EXPECT_TRUE(ask_server(request).told.empty());
  request.params["_meta"]["progressToken"] = "t";
  const Asked asked = ask_server(request);
  ASSERT_EQ(asked.told.size(), 1U);
  EXPECT_EQ(asked.told[0]["params"],
            (Json{{"progressToken", "t"}, {"progress", 1}, {"total", 2}, {"message", "half"}}));
}

TEST(McpServer, WhatBreaksInsideIsAnErrorWithoutItsWords) {
  const Asked asked = ask_server(stateless("tools/call", {{"name", "breaks"}}));
  EXPECT_EQ(code_of(asked), kInternalError);
  EXPECT_EQ(one_line(asked.answer.message).find("secret"), std::string::npos);
}

}  // namespace
}  // namespace sextant::front::mcp
