#include "llm/embeddings.h"

#include <gtest/gtest.h>

#include "llm/scripted_model_testing.h"

namespace sextant::llm {
namespace {

const char* const kEmbeddingKey = "sk-planted-1234567890abcdef";

std::string same(const std::string& word) {
  return word;
}

Endpoint endpoint_at(const ScriptedModel& model) {
  return {.base = model.url(), .model = "m", .key = kEmbeddingKey};
}

Result<std::vector<Vector>> vectors_of(const ScriptedModel& model,
                                       const std::vector<std::string>& texts, Spending& spending) {
  return embedded(endpoint_at(model), "e", texts, spending, [](Seconds) { return Result<void>(); });
}

TEST(Cosine, OfAVectorWithItselfIsOneAndOfNothingInCommonZero) {
  EXPECT_DOUBLE_EQ(cosine({1, 2}, {2, 4}), 1.0);
  EXPECT_DOUBLE_EQ(cosine({1, 0}, {0, 3}), 0.0);
  EXPECT_DOUBLE_EQ(cosine({1, 0}, {-2, 0}), -1.0);
  EXPECT_DOUBLE_EQ(cosine({1, 0}, {1, 0, 0}), 0.0);
}

TEST(Embeddings, NearTextsHaveNearVectors) {
  const ScriptedModel model({}, {}, meaning_of_words(same));
  Spending spending{Budget()};
  const auto vectors =
      vectors_of(model, {"pipeline bubble", "bubble of the pipeline", "checkpoint disk"}, spending);
  ASSERT_TRUE(vectors) << to_text(vectors.error());
  EXPECT_GT(cosine((*vectors)[0], (*vectors)[1]), cosine((*vectors)[0], (*vectors)[2]) + 0.2);
  ASSERT_EQ(model.seen().size(), 1U);
  EXPECT_EQ(model.seen()[0].path, "/v1/embeddings");
  EXPECT_EQ(http::value_of(model.seen()[0].headers, "authorization"),
            std::string("Bearer ") + kEmbeddingKey);
  EXPECT_EQ(model.seen()[0].body,
            R"({"model":"e","input":["pipeline bubble","bubble of the pipeline",)"
            R"("checkpoint disk"],"encoding_format":"float"})");
  // As the server counts them.
  EXPECT_EQ(spending.used().input, (15 + 22 + 15) / 4);
  EXPECT_EQ(spending.requests(), 1);
}

TEST(Embeddings, AServerWithoutThemSaysSoAtOnce) {
  const ScriptedModel model({});
  Spending spending{Budget()};
  const auto vectors = vectors_of(model, {"a"}, spending);
  ASSERT_FALSE(vectors);
  EXPECT_NE(vectors.error().what.find("404"), std::string::npos);
  EXPECT_EQ(model.seen().size(), 1U);
  EXPECT_EQ(spending.requests(), 0);
}

TEST(Embeddings, TheBudgetIsAskedBefore) {
  const ScriptedModel model({}, {}, meaning_of_words(same));
  Spending spending{Budget{.tokens = 50}};
  EXPECT_FALSE(vectors_of(model, {std::string(600, 'x')}, spending));
  EXPECT_TRUE(model.seen().empty());
}

TEST(Embeddings, WhatIsNoVectorForEachTextIsAnError) {
  const auto parse = [](const char* body) { return parse_embeddings(body, 2); };
  ASSERT_TRUE(parse(R"({"data":[{"index":1,"embedding":[2]},{"index":0,"embedding":[1]}]})"));
  EXPECT_EQ(
      parse(R"({"data":[{"index":1,"embedding":[2]},{"index":0,"embedding":[1]}]})")->vectors[0][0],
      1.0F);
  for (const char* body :
       {"", "[]", "{}", R"({"data":7})", R"({"data":[{"embedding":[1]}]})",
        R"({"data":[{"embedding":[1]},{"embedding":[1,2]}]})",
        R"({"data":[{"embedding":[1]},{"embedding":[]}]})",
        R"({"data":[{"embedding":[1]},{"embedding":["1"]}]})",
        R"({"data":[{"embedding":[1]},{"embedding":[0]}]})",
        R"({"data":[{"embedding":[1]},{"embedding":[1e300]}]})",
        R"({"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]})",
        R"({"data":[{"index":5,"embedding":[1]},{"index":0,"embedding":[1]}]})"}) {
    EXPECT_FALSE(parse(body)) << body;
  }
}

TEST(Embeddings, WhatWouldBeSentIsShownWithoutTheKey) {
  const ScriptedModel model({});
  const std::vector<std::string> texts{"a text"};
  const std::string shown = shown_embeddings(endpoint_at(model), "e", texts);
  EXPECT_EQ(shown.find(kEmbeddingKey), std::string::npos);
  EXPECT_NE(shown.find("/v1/embeddings\n"), std::string::npos);
  EXPECT_NE(shown.find("Authorization: Bearer [key]"), std::string::npos);
  EXPECT_NE(shown.find("a text"), std::string::npos);
}

}  // namespace
}  // namespace sextant::llm
