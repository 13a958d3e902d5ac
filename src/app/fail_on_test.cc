#include "app/fail_on.h"

#include <gtest/gtest.h>

#include "app/testing.h"

namespace sextant::app {
namespace {

diagnose::RuleBook built_in_book() {
  return diagnose::RuleBook::load(built_in_data()).value();
}

TEST(FailOn, NothingSaidIsNothingAsked) {
  const auto gate = gate_of("", built_in_book());
  ASSERT_TRUE(gate);
  EXPECT_TRUE(gate->rules.empty());
  EXPECT_FALSE(gate->gain);
}

TEST(FailOn, ConditionsAreJoinedByCommas) {
  const auto gate = gate_of("input-bound, gain>5%", built_in_book());
  ASSERT_TRUE(gate) << to_text(gate.error());
  EXPECT_EQ(gate->rules, std::vector<std::string>{"input-bound"});
  EXPECT_DOUBLE_EQ(gate->gain.value_or(0.0), 0.05);
  EXPECT_DOUBLE_EQ(gate_of("gain>0.125", built_in_book())->gain.value_or(0.0), 0.125);
}

TEST(FailOn, AnUnknownRuleIsToldTheKnownOnes) {
  const auto gate = gate_of("input-bond", built_in_book());
  ASSERT_FALSE(gate);
  const std::string text = to_text(gate.error());
  EXPECT_NE(text.find("did you mean input-bound?"), std::string::npos) << text;
  EXPECT_NE(text.find("gain>5%"), std::string::npos) << text;
}

TEST(FailOn, AShareIsANumberOfZeroOrMore) {
  for (const char* word : {"gain>", "gain>much", "gain>-1%", "input-bound,", "slower>5%"}) {
    EXPECT_FALSE(gate_of(word, built_in_book())) << word;
  }
  EXPECT_DOUBLE_EQ(gate_of("slower>5%", built_in_book(), true)->slower.value_or(0.0), 0.05);
}

}  // namespace
}  // namespace sextant::app
