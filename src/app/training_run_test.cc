#include "app/training_run.h"

#include <gtest/gtest.h>

namespace sextant::app {
namespace {

TEST(TrainingWish, NoTokensNoTraining) {
  const auto wish = training_wish({.tokens = "", .price = ""});
  ASSERT_TRUE(wish);
  EXPECT_FALSE(wish->has_value());
}

step::TrainingWish wish_of(const char* tokens, const char* price = "") {
  const auto wish = training_wish({.tokens = tokens, .price = price});
  EXPECT_TRUE(wish) << tokens;
  return wish ? wish->value_or(step::TrainingWish{}) : step::TrainingWish{};
}

TEST(TrainingWish, APriceIsOfADeviceHour) {
  EXPECT_EQ(wish_of("4.5B", "3").price, 3.0);
  EXPECT_FALSE(wish_of("4.5B").price);
}

TEST(TrainingWish, SuffixesAreThoseOfPeople) {
  for (const auto& [text, tokens] : {std::pair("15T", 15e12),
                                     {"15t", 15e12},
                                     {"2 B", 2e9},
                                     {"1.5M", 1.5e6},
                                     {"10k", 1e4},
                                     {"7", 7.0}}) {
    EXPECT_DOUBLE_EQ(wish_of(text).tokens, tokens) << text;
  }
}

TEST(TrainingWish, WhatIsNoNumberSaysWhatIsAllowed) {
  for (const char* text : {"abc", "T", "-1B", "0", "nan", "1e30", "15TB", "1,5T"}) {
    const auto wish = training_wish({.tokens = text, .price = ""});
    ASSERT_FALSE(wish) << text;
    EXPECT_EQ(wish.error().where, "‹tokens›");
    EXPECT_FALSE(wish.error().allowed.empty());
  }
  for (const char* text : {"-1", "x", "inf", "2.5$"}) {
    const auto wish = training_wish({.tokens = "1T", .price = text});
    ASSERT_FALSE(wish) << text;
    EXPECT_EQ(wish.error().where, "‹price›");
  }
  EXPECT_FALSE(training_wish({.tokens = "", .price = "2"}));
}

}  // namespace
}  // namespace sextant::app
