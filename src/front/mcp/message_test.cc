#include "front/mcp/message.h"

#include <gtest/gtest.h>

namespace sextant::front::mcp {
namespace {

Rejected rejection(std::string_view bytes) {
  const Message message = read_message(bytes);
  const auto* rejected = std::get_if<Rejected>(&message);
  return rejected == nullptr ? Rejected{.id = {}, .code = 0, .why = "was taken"} : *rejected;
}

TEST(McpMessage, ARequestHasAnIdAMethodAndParams) {
  const Message message =
      read_message(R"({"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"x":1}})");
  const auto& request = std::get<Request>(message);
  EXPECT_EQ(request.id, "a");
  EXPECT_EQ(request.method, "tools/list");
  EXPECT_EQ(request.params, (Json{{"x", 1}}));
}

TEST(McpMessage, WithoutAnIdItIsANotificationAndWithoutAMethodAResponse) {
  EXPECT_TRUE(std::holds_alternative<Notification>(
      read_message(R"({"jsonrpc":"2.0","method":"notifications/initialized"})")));
  EXPECT_TRUE(
      std::holds_alternative<Response>(read_message(R"({"jsonrpc":"2.0","id":1,"result":{}})")));
}

TEST(McpMessage, WhatIsNoMessageIsRejectedWithJsonRpcsCode) {
  EXPECT_EQ(rejection("").code, kParseError);
  EXPECT_EQ(rejection("{]").code, kParseError);
  EXPECT_EQ(rejection("\"\xff\"").code, kParseError);
  for (const char* bytes :
       {"1", "[]", "{}", R"({"jsonrpc":"1.0","id":1,"method":"ping"})", R"({"jsonrpc":"2.0"})",
        R"({"jsonrpc":"2.0","id":null,"method":"ping"})",
        R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", R"({"jsonrpc":"2.0","id":1,"method":7})",
        R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})"}) {
    EXPECT_EQ(rejection(bytes).code, kInvalidRequest) << bytes;
  }
}

TEST(McpMessage, ARejectedRequestsIdIsKeptWhereItCanBeRead) {
  EXPECT_EQ(rejection(R"({"jsonrpc":"2.0","id":7,"method":1})").id, Json(7));
  EXPECT_FALSE(rejection(R"({"jsonrpc":"2.0","id":{},"method":"ping"})").id);
  EXPECT_FALSE(error_message({}, {.message = "no"}).contains("id"));
}

TEST(McpMessage, LimitsHoldBeforeAnythingIsParsed) {
  EXPECT_NE(rejection(std::string(kMostMessageBytes + 1, ' ')).why.find("longer"),
            std::string::npos);
  const std::string deep(1'000, '[');
  EXPECT_NE(rejection(deep).why.find("deeper"), std::string::npos);
  std::string wide = "[1";
  for (int i = 0; i < kMostMessageValues + 1; ++i) {
    wide += ",1";
  }
  EXPECT_NE(rejection(wide + "]").why.find("more than"), std::string::npos);
}

TEST(McpMessage, BracketsAndCommasInTextsCountForNothing) {
  const std::string text(10'000, '[');
  EXPECT_TRUE(std::holds_alternative<Request>(
      read_message(R"({"jsonrpc":"2.0","id":1,"method":"\")" + text + R"("})")));
}

}  // namespace
}  // namespace sextant::front::mcp
