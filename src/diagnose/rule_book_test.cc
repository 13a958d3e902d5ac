#include "diagnose/rule_book.h"

#include <gtest/gtest.h>

namespace sextant::diagnose {
namespace {

TEST(RuleBook, EveryRuleSaysWhatItMeansAndWhatToDo) {
  const auto book = RuleBook::load(describe::DataStore());
  ASSERT_TRUE(book) << to_text(book.error());
  ASSERT_FALSE(book->rules().empty());
  for (const Rule& rule : book->rules()) {
    EXPECT_FALSE(rule.title.empty()) << rule.id;
    EXPECT_FALSE(rule.meaning.empty()) << rule.id;
    EXPECT_FALSE(rule.record.empty()) << rule.id;
    ASSERT_FALSE(rule.advice.empty()) << rule.id;
    for (const Advice& advice : rule.advice) {
      EXPECT_FALSE(advice.what.empty()) << rule.id;
      EXPECT_TRUE(advice.source.starts_with("https://")) << rule.id << ": " << advice.source;
    }
    EXPECT_EQ(book->find(rule.id), &rule);
  }
  EXPECT_EQ(book->find("no-such-rule"), nullptr);
}

// Advice stands in order of what it gains, which its names are not.
TEST(RuleBook, AdviceIsInTheOrderOfItsFile) {
  const auto book = RuleBook::load(describe::DataStore());
  ASSERT_TRUE(book);
  std::vector<std::string> ids;
  for (const Advice& advice : book->rule("eager-attention").advice) {
    ids.push_back(advice.id);
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"fused", "backend"}));
}

// To record more shows the cause; it makes no step shorter.
TEST(RuleBook, AdviceThatOnlyShowsMoreSaysSo) {
  const auto book = RuleBook::load(describe::DataStore());
  ASSERT_TRUE(book);
  const std::vector<Advice>& advice = book->rule("host-busy").advice;
  ASSERT_EQ(advice.size(), 2U);
  EXPECT_TRUE(advice.front().mends);
  EXPECT_EQ(advice.back().id, "record");
  EXPECT_FALSE(advice.back().mends);
}

}  // namespace
}  // namespace sextant::diagnose
