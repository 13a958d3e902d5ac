#include "agents/llm_answer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sextant::agents {
namespace {

std::string refused_answer(const std::string& text) {
  const auto answer = parse_llm_answer(text, "model m");
  return answer ? "read" : to_text(answer.error());
}

TEST(LlmAnswer, ProposalsAreReadWithTheirAuthor) {
  const auto answer = parse_llm_answer(R"(Here you are:
```json
{"summary": "two ideas", "proposals": [
  {"title": "less recomputation", "layout": "recompute=none", "bottleneck": "b", "memory": "m",
   "comparison": "c", "claims": ["step lower, x0.7 to x0.85", "memory higher"],
   "citations": [{"kind": "kb", "id": "keep-tp-in-the-node"}, {"kind": "model", "id": ""}],
   "trade_offs": ["memory"]},
  {"title": "workers", "setting": "--num-workers 8", "mends": "input-bound"}]}
```)",
                                       "model m");
  ASSERT_TRUE(answer) << to_text(answer.error());
  EXPECT_EQ(answer->summary, "two ideas");
  ASSERT_EQ(answer->proposals.size(), 2U);
  const verify::Proposal& first = answer->proposals[0];
  EXPECT_EQ(first.author, "model m");
  EXPECT_EQ(first.change.layout, "recompute=none");
  EXPECT_EQ(first.claims[0], (verify::Claim{step::Quantity::kStep, step::Direction::kLower,
                                            step::RatioRange{0.7, 0.85}}));
  EXPECT_EQ(first.claims.size(), 2U);
  EXPECT_EQ(first.citations[1].kind, verify::Cited::kModel);
  EXPECT_EQ(answer->proposals[1].change.mends, "input-bound");
}

TEST(LlmAnswer, AnEmptyListIsAnAnswer) {
  EXPECT_EQ(refused_answer(R"({"summary": "nothing to add", "proposals": []})"), "read");
}

TEST(LlmAnswer, WhatIsNotAskedForIsRefusedWithItsPlace) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"I would try tp=4.", "no JSON object"},
      {R"({"summary": 3})", "summary"},
      {R"({"proposals": {}})", "no list"},
      {R"({"proposals": ["tp=4"]})", "no object"},
      {R"({"proposals": [{"layout": ["tp=4"]}]})", "layout"},
      {R"({"proposals": [{"claims": ["it is faster"]}]})", "claims"},
      {R"({"proposals": [{"claims": [3]}]})", "claims"},
      {R"({"proposals": [{"citations": [{"kind": "paper", "id": "x"}]}]})", "paper"},
      {R"({"proposals": [{"run": "rm -rf /"}]})", "'run' is no key here"},
      {R"({"commands": []})", "'commands' is no key here"},
      {R"({"summary": "cut)", "no JSON object"},
      {R"({"summary": "cut}, "x": })", "answer"}};
  for (const auto& [text, said] : cases) {
    const std::string why = refused_answer(text);
    EXPECT_NE(why.find(said), std::string::npos) << text << " → " << why;
  }
}

TEST(LlmAnswer, WhatIsTooMuchIsRefused) {
  std::string many = R"({"proposals": [{})";
  for (int i = 0; i < 20; ++i) {
    many += ",{}";
  }
  EXPECT_NE(refused_answer(many + "]}").find("too long"), std::string::npos);
  EXPECT_NE(refused_answer("{\"summary\": \"" + std::string(300000, 'x') + "\"}"), "read");
  EXPECT_NE(refused_answer(std::string(5000, '{') + std::string(5000, '}')), "read");
}

TEST(LlmAnswer, ItsTextsAreFitToBeShown) {
  const auto answer = parse_llm_answer(
      R"({"summary": "a\u001b[31mred\nline", "proposals": [{"title": "t\u0007"}]})", "model m");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->summary, "a\\x1b[31mred\\x0aline");
  EXPECT_EQ(answer->proposals[0].title, "t\\x07");
}

RC_GTEST_PROP(LlmAnswer, AnyTextEndsInAnAnswerOrAnError, (const std::string& noise)) {
  static_cast<void>(parse_llm_answer(noise, "model m"));
  static_cast<void>(parse_llm_answer("{\"proposals\":[{" + noise + "}]}", "model m"));
  static_cast<void>(parse_llm_proposal("{\"title\":" + noise + "}", "model m"));
}

}  // namespace
}  // namespace sextant::agents
