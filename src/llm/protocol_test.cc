#include "llm/protocol.h"

#include <array>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "http/lines.h"
#include "llm/scripted_model_testing.h"

namespace sextant::llm {
namespace {

using TestJson = nlohmann::ordered_json;

const std::array<Protocol, 3> kAll{Protocol::kChat, Protocol::kResponses, Protocol::kMessages};

// What the events of that text come to.
Result<ModelReply> decoded(Protocol protocol, std::string_view stream) {
  const auto decoder = reply_decoder(protocol);
  http::LineSplitter lines(std::size_t{1} << 22U);
  http::EventReader events;
  const auto take_event = [&](const http::ServerEvent& event) { return decoder->take(event); };
  const auto fed =
      lines.feed(stream, [&](std::string_view line) { return events.feed(line, take_event); });
  if (!fed) {
    return tl::unexpected(fed.error());
  }
  return decoder->end();
}

Conversation small_talk() {
  return {.system = "be brief",
          .tools = {{.name = "estimate",
                     .description = "how long a step takes",
                     .schema = R"({"type":"object","properties":{"layout":{"type":"string"}}})"}},
          .turns = {{.speaker = Speaker::kUser, .text = "faster?"},
                    {.speaker = Speaker::kModel,
                     .text = "let me see",
                     .calls = {{"c1", "estimate", R"({"layout":"tp=8"})"},
                               {"c2", "estimate", "not json"}}},
                    {.speaker = Speaker::kTools,
                     .results = {{"c1", "3.2 s", false}, {"c2", "no JSON", true}}}}};
}

TestJson body_of(Protocol protocol, const Conversation& conversation, bool is_openai = false) {
  return TestJson::parse(request_body(protocol, conversation,
                                      {.model = "m", .most_output = 77, .is_openai = is_openai}));
}

TEST(ChatProtocol, AConversationIsMessagesAndFunctions) {
  const TestJson body = body_of(Protocol::kChat, small_talk());
  EXPECT_EQ(body["model"], "m");
  EXPECT_EQ(body["max_tokens"], 77);
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  EXPECT_EQ(body["messages"][0], (TestJson{{"role", "system"}, {"content", "be brief"}}));
  EXPECT_EQ(body["messages"][2]["tool_calls"][0]["function"]["arguments"], R"({"layout":"tp=8"})");
  EXPECT_EQ(body["messages"][3],
            (TestJson{{"role", "tool"}, {"tool_call_id", "c1"}, {"content", "3.2 s"}}));
  EXPECT_EQ(body["tools"][0]["function"]["parameters"]["type"], "object");
  EXPECT_EQ(body["tool_choice"], "auto");
  EXPECT_FALSE(body.contains("response_format"));
  EXPECT_FALSE(body.contains("temperature"));
  EXPECT_EQ(body_of(Protocol::kChat, small_talk(), true)["max_completion_tokens"], 77);
}

TEST(ResponsesProtocol, AConversationIsItemsAndNothingIsStored) {
  const TestJson body = body_of(Protocol::kResponses, small_talk());
  EXPECT_EQ(body["instructions"], "be brief");
  EXPECT_EQ(body["store"], false);
  EXPECT_EQ(body["max_output_tokens"], 77);
  EXPECT_EQ(body["input"][2]["type"], "function_call");
  EXPECT_EQ(body["input"][2]["call_id"], "c1");
  EXPECT_EQ(body["input"][4]["type"], "function_call_output");
  EXPECT_EQ(body["input"][4]["output"], "3.2 s");
  EXPECT_EQ(body["tools"][0]["name"], "estimate");
}

TEST(MessagesProtocol, AConversationIsBlocksAndResultsStandInOneMessage) {
  const TestJson body = body_of(Protocol::kMessages, small_talk());
  EXPECT_EQ(body["system"], "be brief");
  EXPECT_EQ(body["max_tokens"], 77);
  EXPECT_EQ(body["messages"].size(), 3U);
  EXPECT_EQ(body["messages"][1]["content"][1]["input"], (TestJson{{"layout", "tp=8"}}));
  // What the model gave as arguments was no JSON: the protocol wants an object all the same.
  EXPECT_EQ(body["messages"][1]["content"][2]["input"], TestJson::object());
  EXPECT_EQ(body["messages"][2]["content"].size(), 2U);
  EXPECT_EQ(body["messages"][2]["content"][1]["is_error"], true);
  EXPECT_EQ(body["tools"][0]["input_schema"]["type"], "object");
}

TEST(Protocols, AnAnswerOfASchemaIsAskedForWithToolsBarred) {
  Conversation closing = small_talk();
  closing.may_call = false;
  closing.answer_schema = R"({"type":"object"})";
  const TestJson chat = body_of(Protocol::kChat, closing);
  EXPECT_EQ(chat["tool_choice"], "none");
  EXPECT_EQ(chat["response_format"]["json_schema"]["schema"]["type"], "object");
  const TestJson responses = body_of(Protocol::kResponses, closing);
  EXPECT_EQ(responses["tool_choice"], "none");
  EXPECT_EQ(responses["text"]["format"]["type"], "json_schema");
  const TestJson messages = body_of(Protocol::kMessages, closing);
  EXPECT_EQ(messages["tool_choice"]["type"], "none");
  EXPECT_EQ(messages["output_config"]["format"]["schema"]["type"], "object");
}

TEST(Protocols, TheKeyStandsInTheirOwnHeaderAlone) {
  EXPECT_EQ(http::value_of(protocol_headers(Protocol::kChat, "k"), "authorization"), "Bearer k");
  EXPECT_EQ(http::value_of(protocol_headers(Protocol::kMessages, "k"), "x-api-key"), "k");
  EXPECT_EQ(http::value_of(protocol_headers(Protocol::kMessages, "k"), "anthropic-version"),
            "2023-06-01");
  for (const Protocol protocol : kAll) {
    for (const http::Header& header : protocol_headers(protocol, "")) {
      EXPECT_NE(header.name, "Authorization");
      EXPECT_NE(header.name, "x-api-key");
    }
  }
}

TEST(Protocols, AStreamedReplyIsPutTogether) {
  const Line line{.text = "look: ",
                  .calls = {{"a", "plan", R"({"most": 3})"}, {"b", "estimate", "{}"}}};
  for (const Protocol protocol : kAll) {
    const auto reply = decoded(protocol, streamed(line, path_of(protocol)));
    ASSERT_TRUE(reply) << to_text(reply.error());
    EXPECT_EQ(reply->text, "look: ");
    EXPECT_EQ(reply->ending, Ending::kCalls);
    ASSERT_EQ(reply->calls.size(), 2U);
    EXPECT_EQ(reply->calls[0].arguments, R"({"most": 3})");
    EXPECT_EQ(reply->calls[1].id, "b");
    EXPECT_EQ(reply->usage.input, 1000);
    EXPECT_EQ(reply->usage.output, 50);
  }
}

TEST(Protocols, AReplyThatIsCutAtItsLimitSaysSo) {
  for (const Protocol protocol : kAll) {
    const auto reply =
        decoded(protocol, streamed({.text = "half", .is_cut_short = true}, path_of(protocol)));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->ending, Ending::kLength);
  }
}

TEST(Protocols, AStreamThatEndsWithoutSayingSoIsAnError) {
  const Line line{.text = "a text", .calls = {{"a", "plan", R"({"most": 3})"}}};
  for (const Protocol protocol : kAll) {
    const std::string whole = streamed(line, path_of(protocol));
    EXPECT_FALSE(decoded(protocol, whole.substr(0, whole.size() / 2)));
    EXPECT_FALSE(decoded(protocol, ""));
  }
}

TEST(Protocols, AnErrorWithinAStreamIsAnErrorWithItsWords) {
  for (const Protocol protocol : kAll) {
    const auto reply = decoded(protocol,
                               "event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":"
                               "\"over\\u001bloaded\"}}\n\n");
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().what.find("over\\x1bloaded"), std::string::npos) << reply.error().what;
  }
}

TEST(Protocols, WhatIsTooMuchIsAnError) {
  Line many;
  many.calls.resize(65, {"a", "plan", "{}"});
  const Line huge{.calls = {{"a", "plan", std::string(600000, 'x')}}};
  for (const Protocol protocol : kAll) {
    EXPECT_FALSE(decoded(protocol, streamed(many, path_of(protocol))));
    EXPECT_FALSE(decoded(protocol, streamed(huge, path_of(protocol))));
    EXPECT_FALSE(decoded(protocol, "data: " + std::string(100, '[') + "\n\n"));
    const std::string deep = std::string(9000, '[') + std::string(9000, ']');
    EXPECT_FALSE(decoded(protocol, "data: {\"a\":" + deep + "}\n\n"));
  }
}

RC_GTEST_PROP(Protocols, AnyEventsEndInAReplyOrAnError, (const std::string& noise)) {
  for (const Protocol protocol : kAll) {
    const std::string whole =
        streamed({.text = "t", .calls = {{"a", "plan", "{}"}}}, path_of(protocol));
    const std::size_t at = *rc::gen::inRange<std::size_t>(0, whole.size());
    static_cast<void>(decoded(protocol, whole.substr(0, at) + noise + whole.substr(at)));
  }
}

TEST(ChatProtocol, ServersThatLeaveOutPlacesAreUnderstood) {
  // Some compatible servers send each call whole, without its index.
  const auto reply = decoded(
      Protocol::kChat,
      "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"x\","
      "\"arguments\":\"{}\"}}]}}]}\n\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":"
      "\"b\",\"function\":{\"name\":\"y\",\"arguments\":\"{}\"}}]},\"finish_reason\":"
      "\"stop\"}]}\n\n");
  ASSERT_TRUE(reply) << to_text(reply.error());
  ASSERT_EQ(reply->calls.size(), 2U);
  EXPECT_EQ(reply->calls[1].name, "y");
  EXPECT_EQ(reply->ending, Ending::kCalls);
}

TEST(Protocols, ArgumentsOfAnyDepthAreSentBackWithoutHarm) {
  std::string deep = "{\"a\":";
  deep += std::string(100'000, '[') + std::string(100'000, ']') + "}";
  Conversation conversation = small_talk();
  conversation.turns[1].calls[0].arguments = deep;
  for (const Protocol protocol : kAll) {
    EXPECT_GT(request_body(protocol, conversation, {.model = "m"}).size(), 0U);
  }
  const TestJson body = body_of(Protocol::kMessages, conversation);
  EXPECT_EQ(body["messages"][1]["content"][1]["input"], TestJson::object());
}

TEST(Protocols, AnEventOfTooManyMembersIsAnErrorBeforeItIsRead) {
  std::string many = "data: {\"a\": 0";
  for (int i = 0; i < 20'000; ++i) {
    many += ",\"" + std::to_string(i) + "\":0";
  }
  for (const Protocol protocol : kAll) {
    const auto reply = decoded(protocol, many + "}\n\n");
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().what.find("more than 20000 members"), std::string::npos);
  }
}

TEST(Protocols, HostsHaveTheirUsualOne) {
  EXPECT_EQ(usual_protocol("api.openai.com"), Protocol::kResponses);
  EXPECT_EQ(usual_protocol("api.anthropic.com"), Protocol::kMessages);
  EXPECT_EQ(usual_protocol("notopenai.com"), Protocol::kChat);
  EXPECT_EQ(usual_protocol("localhost"), Protocol::kChat);
  EXPECT_EQ(parse_protocol("soap", "--p").error().allowed, "chat, responses or messages");
}

}  // namespace
}  // namespace sextant::llm
