#include "llm/endpoint.h"

#include <array>

#include <gtest/gtest.h>

#include "llm/scripted_model_testing.h"

namespace sextant::llm {
namespace {

const char* const kPlanted = "sk-planted-9876543210abcdef";
const std::array<Protocol, 3> kEach{Protocol::kChat, Protocol::kResponses, Protocol::kMessages};

struct Asked {
  Result<ModelReply> reply;
  std::vector<double> waits;  // seconds
  Spending spending;
};

Asked asked_of(const ScriptedModel& model, Protocol protocol, const Budget& budget = {},
               const http::ClientOptions& client = {}) {
  const Endpoint endpoint{
      .base = model.url(), .protocol = protocol, .model = "m", .key = kPlanted, .client = client};
  const Conversation conversation{.system = "s",
                                  .turns = {{.speaker = Speaker::kUser, .text = "hello"}}};
  Asked asked{.reply = ModelReply(), .waits = {}, .spending = Spending(budget)};
  const Wait wait = [&](Seconds time) {
    asked.waits.push_back(time.base());
    return Result<void>();
  };
  asked.reply = reply_from(endpoint, conversation, asked.spending, wait);
  if (!asked.reply) {
    const std::string text = to_text(asked.reply.error());
    EXPECT_EQ(text.find(kPlanted), std::string::npos) << text;
  }
  return asked;
}

TEST(Endpoint, AllThreeProtocolsAreSpoken) {
  for (const Protocol protocol : kEach) {
    const ScriptedModel model({{.text = "hi"}});
    const Asked asked = asked_of(model, protocol);
    ASSERT_TRUE(asked.reply) << to_text(asked.reply.error());
    EXPECT_EQ(asked.reply->text, "hi");
    EXPECT_EQ(asked.spending.used().input, 1000);
    ASSERT_EQ(model.seen().size(), 1U);
    EXPECT_EQ(model.seen()[0].path, "/v1" + std::string(path_of(protocol)));
    EXPECT_EQ(model.seen()[0].body.find(kPlanted), std::string::npos);
  }
}

TEST(Endpoint, WhatMayPassIsAskedAgain) {
  for (const Fault fault : {Fault::kBusy, Fault::kBroken, Fault::kCut, Fault::kInvalidJson}) {
    for (const Protocol protocol : kEach) {
      const ScriptedModel model({{.text = "a longer text", .fault = fault}, {.text = "hi"}});
      const Asked asked = asked_of(model, protocol);
      ASSERT_TRUE(asked.reply) << to_text(asked.reply.error());
      EXPECT_EQ(asked.reply->text, "hi");
      EXPECT_EQ(asked.waits.size(), 1U);
    }
  }
}

TEST(Endpoint, WhatStaysIsGivenUpAfterThreeAttempts) {
  const ScriptedModel model({}, {.fault = Fault::kBroken});
  const Asked asked = asked_of(model, Protocol::kChat);
  ASSERT_FALSE(asked.reply);
  EXPECT_EQ(asked.reply.error().what,
            "the endpoint answers 500 Internal Server Error: while serving Bearer [key]");
  EXPECT_EQ(model.seen().size(), 3U);
  // The server says when: at once.
  EXPECT_EQ(asked.waits, (std::vector{0.0, 0.0}));
}

TEST(Endpoint, ARefusedKeyIsNotTriedAgain) {
  const ScriptedModel model({}, {.fault = Fault::kRefusesKey});
  const Asked asked = asked_of(model, Protocol::kMessages);
  ASSERT_FALSE(asked.reply);
  EXPECT_EQ(model.seen().size(), 1U);
  EXPECT_NE(asked.reply.error().what.find("401 Unauthorized"), std::string::npos);
}

TEST(Endpoint, AKeyThatTheServerSaysBackIsInNothingOfTheReply) {
  for (const Protocol protocol : kEach) {
    const std::string key = kPlanted;
    const ScriptedModel model({{.text = "it is " + key,
                                .calls = {{"id-" + key, "f-" + key, "{\"a\":\"" + key + "\"}"}}}});
    const Asked asked = asked_of(model, protocol);
    ASSERT_TRUE(asked.reply) << to_text(asked.reply.error());
    EXPECT_EQ(asked.reply->text, "it is [key]");
    ASSERT_EQ(asked.reply->calls.size(), 1U);
    EXPECT_EQ(asked.reply->calls[0].id, "id-[key]");
    EXPECT_EQ(asked.reply->calls[0].name, "f-[key]");
    EXPECT_EQ(asked.reply->calls[0].arguments, R"({"a":"[key]"})");
  }
}

TEST(Endpoint, AKeyThatIsAMereWordTakesNothingOutOfTheReply) {
  const ScriptedModel model({{.text = "recompute=none"}});
  const Endpoint endpoint{.base = model.url(), .model = "m", .key = "none"};
  Spending spending{Budget()};
  const auto reply = reply_from(endpoint, {.system = "s"}, spending, waiting_for_stop(nullptr));
  ASSERT_TRUE(reply) << to_text(reply.error());
  EXPECT_EQ(reply->text, "recompute=none");
}

TEST(Endpoint, AKeyThatItsReplacementHoldsIsReplacedOnce) {
  const ScriptedModel model({}, {.text = "Incorrect key", .fault = Fault::kSaid});
  const Endpoint endpoint{.base = model.url(), .model = "m", .key = "key"};
  Spending spending{Budget()};
  const auto reply = reply_from(endpoint, {.system = "s"}, spending, waiting_for_stop(nullptr));
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().what.find("Incorrect [key]"), std::string::npos) << reply.error().what;
}

TEST(Endpoint, NoPartOfAKeyIsInAnErrorThatIsCutShort) {
  // The server's words are shown to their 300th byte, which is within the key.
  const ScriptedModel model({}, {.text = std::string(288, 'x') + kPlanted, .fault = Fault::kSaid});
  const Asked asked = asked_of(model, Protocol::kMessages);
  ASSERT_FALSE(asked.reply);
  const std::string text = to_text(asked.reply.error());
  EXPECT_NE(text.find("the server breaks off"), std::string::npos) << text;
  EXPECT_EQ(text.find("sk-planted"), std::string::npos) << text;
}

TEST(Endpoint, AReplyThatIsCutIsPaidFor) {
  for (const Protocol protocol : kEach) {
    const ScriptedModel model({}, {.text = std::string(6000, 'y'), .fault = Fault::kCut});
    const Asked asked = asked_of(model, protocol);
    ASSERT_FALSE(asked.reply);
    EXPECT_EQ(asked.spending.requests(), 3);
    EXPECT_TRUE(asked.spending.used().is_estimated);
    // Half of the words came each time, 1,000 tokens of them.
    EXPECT_GE(asked.spending.used().output, 3 * 1000);
    EXPECT_LE(asked.spending.used().output, 3 * 4096);
  }
}

TEST(Endpoint, AServerThatDoesNotStreamIsReadToo) {
  for (const Protocol protocol : kEach) {
    const ScriptedModel model({{.text = "hi, " + std::string(kPlanted),
                                .calls = {{"c1", "plan", R"({"most":3})"}, {"c2", "path", "{}"}},
                                .is_whole = true}});
    const Asked asked = asked_of(model, protocol);
    ASSERT_TRUE(asked.reply) << to_text(asked.reply.error());
    EXPECT_EQ(asked.reply->text, "hi, [key]");
    EXPECT_EQ(asked.reply->ending, Ending::kCalls);
    ASSERT_EQ(asked.reply->calls.size(), 2U);
    EXPECT_EQ(asked.reply->calls[0].id, "c1");
    EXPECT_EQ(asked.reply->calls[0].name, "plan");
    EXPECT_EQ(asked.reply->calls[0].arguments, R"({"most":3})");
    EXPECT_EQ(asked.reply->calls[1].name, "path");
    EXPECT_EQ(asked.spending.used().input, 1000);
    EXPECT_EQ(asked.spending.used().output, 50);
  }
}

TEST(Endpoint, AWholeReplyThatWasCutByItsLimitSaysSo) {
  for (const Protocol protocol : kEach) {
    const ScriptedModel model({{.text = "half", .is_cut_short = true, .is_whole = true}});
    const Asked asked = asked_of(model, protocol);
    ASSERT_TRUE(asked.reply) << to_text(asked.reply.error());
    EXPECT_EQ(asked.reply->ending, Ending::kLength);
  }
}

TEST(Endpoint, JsonThatIsNoReplyIsAnErrorAndAskedAgain) {
  for (const Protocol protocol : kEach) {
    const ScriptedModel model({}, {.fault = Fault::kNoStream});
    const Asked asked = asked_of(model, protocol);
    ASSERT_FALSE(asked.reply);
    EXPECT_NE(asked.reply.error().what.find("it has no '"), std::string::npos);
    EXPECT_EQ(model.seen().size(), 3U);
  }
}

TEST(Endpoint, WrongTypesAreNoReplyOrAnEmptyOne) {
  for (const Protocol protocol : kEach) {
    const ScriptedModel model(
        {}, {.text = "a text", .calls = {{"c1", "plan", "{}"}}, .fault = Fault::kWrongTypes});
    const Asked asked = asked_of(model, protocol);
    if (asked.reply) {
      EXPECT_EQ(asked.reply->text, "");
      for (const ToolCall& call : asked.reply->calls) {
        EXPECT_EQ(call.name, "");
      }
    }
  }
}

TEST(Endpoint, ASilentServerEndsByTheClientsLimit) {
  const ScriptedModel model({}, {.fault = Fault::kSilent});
  const Asked asked = asked_of(model, Protocol::kChat, {}, {.silence_limit = 10_ms});
  ASSERT_FALSE(asked.reply);
  EXPECT_NE(asked.reply.error().what.find("no time left"), std::string::npos);
  EXPECT_EQ(asked.waits, (std::vector{0.5, 1.0}));
}

TEST(Endpoint, WhoSaysStopIsNotKeptWaiting) {
  const ScriptedModel model({}, {.fault = Fault::kSilent});
  const std::atomic<bool> stop = true;
  const Asked asked = asked_of(model, Protocol::kChat, {}, {.stop = &stop});
  ASSERT_FALSE(asked.reply);
  EXPECT_TRUE(asked.waits.empty());
  EXPECT_FALSE(waiting_for_stop(&stop)(60_s));
}

TEST(Endpoint, NobodyThereIsFree) {
  const Endpoint endpoint{.base = ScriptedModel({}).url(), .model = "m"};  // gone again
  Spending spending{Budget{.tokens = 10000}};
  const auto reply =
      reply_from(endpoint, {.system = "s"}, spending, [](Seconds) { return Result<void>(); });
  ASSERT_FALSE(reply);
  EXPECT_EQ(spending.requests(), 0);
}

TEST(Endpoint, TheBudgetIsAskedBeforeAndTheReplyMadeToFit) {
  const ScriptedModel model({}, {.text = "hi"});
  // Of 1,400 tokens the request takes less than 100; what is left is all that may be said.
  const Asked first = asked_of(model, Protocol::kChat, {.tokens = 1400});
  ASSERT_TRUE(first.reply);
  EXPECT_NE(model.seen()[0].body.find("\"max_tokens\":13"), std::string::npos);
  Spending spending = first.spending;  // 1,050 are gone
  const Endpoint endpoint{.base = model.url(), .model = "m"};
  const auto second =
      reply_from(endpoint, {.system = std::string(1000, 'x')}, spending, waiting_for_stop(nullptr));
  ASSERT_FALSE(second);
  EXPECT_EQ(model.seen().size(), 1U);
  EXPECT_NE(second.error().what.find("budget does not allow"), std::string::npos);
}

TEST(Endpoint, AKeyGoesWhereItBelongsAndNeverInTheClear) {
  const Keys keys{.openai = "o", .anthropic = "a"};
  const auto key = [&](const char* url, const Keys& of) {
    return key_for(*http::parse_url(url, ""), of);
  };
  EXPECT_EQ(key("https://api.openai.com/v1", keys), "o");
  EXPECT_EQ(key("https://api.anthropic.com", keys), "a");
  EXPECT_EQ(key("https://llm.example.com", keys), "");
  EXPECT_EQ(key("https://openai.com.evil.example", keys), "");
  EXPECT_EQ(key("https://llm.example.com", {.own = "mine", .openai = "o"}), "mine");
  EXPECT_EQ(key("http://localhost:8080", {.own = "mine"}), "mine");
  EXPECT_EQ(key("http://gpu-box:8000", keys), "");
  EXPECT_FALSE(key("http://gpu-box:8000", {.own = "mine"}));
  EXPECT_FALSE(key("http://api.openai.com", keys));
}

TEST(Endpoint, WhatWouldBeSentIsShownWithoutTheKey) {
  const Endpoint endpoint{
      .base = *http::parse_url("https://api.example.com", ""), .model = "m", .key = kPlanted};
  const std::string shown = shown_request(endpoint, {.system = "the prompt"});
  EXPECT_EQ(shown.find(kPlanted), std::string::npos);
  EXPECT_TRUE(shown.starts_with("POST https://api.example.com/v1/chat/completions\n")) << shown;
  EXPECT_NE(shown.find("Authorization: Bearer [key]\n"), std::string::npos);
  EXPECT_NE(shown.find("the prompt"), std::string::npos);
}

TEST(Retry, WaitsDoubleUnlessTheServerSaysHowLong) {
  EXPECT_EQ(wait_before(2, ""), 0.5_s);
  EXPECT_EQ(wait_before(3, ""), 1_s);
  EXPECT_EQ(wait_before(99, "Wed, 21 Oct 2026 07:28:00 GMT"), 8_s);
  EXPECT_EQ(wait_before(2, " 7 "), 7_s);
  EXPECT_FALSE(wait_before(2, "3600"));
}

Result<Budget> budget_of(const std::string& budget, const std::string& price = "") {
  return parse_budget(
      {.budget = budget, .price = price, .budget_name = "budget", .price_name = "price"});
}

TEST(Budget, TokensMoneyOrBoth) {
  EXPECT_EQ(budget_of("200k")->tokens, 200000);
  EXPECT_EQ(budget_of("1.5M")->tokens, 1500000);
  EXPECT_EQ(budget_of("12, 0.50USD", "3/15")->money, Dollars(0.5));
  EXPECT_EQ(budget_of("$2", "0/0")->money, Dollars(2.0));
  for (const char* word : {"", "k", "-3", "0", "2e30", "1USD,", "nan", "USD"}) {
    EXPECT_FALSE(budget_of(word, "3/15")) << word;
  }
  EXPECT_FALSE(budget_of("1USD"));
  EXPECT_FALSE(budget_of("1USD", "3"));
  EXPECT_FALSE(budget_of("1USD", "3/-1"));
}

TEST(Budget, MoneyIsHeldBeforeItIsSpent) {
  // 3 and 15 dollars a million: 100,000 tokens in are 0.30, and 0.20 pay for 13,333 out.
  Spending spending(*budget_of("0.50USD", "3/15"));
  EXPECT_EQ(spending.most_output(100000, 20000), 13333);
  EXPECT_EQ(spending.most_output(100000, 4096), 4096);
  EXPECT_FALSE(spending.most_output(170000, 4096));
  spending.add({.input = 100000, .output = 13333});
  EXPECT_FALSE(spending.most_output(10, 4096));
  EXPECT_EQ(spending.to_text(), "100,000 tokens in and 13,333 out in 1 request, 0.5000 USD");
}

}  // namespace
}  // namespace sextant::llm
