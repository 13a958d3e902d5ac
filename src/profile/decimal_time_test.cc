#include "profile/decimal_time.h"

#include <gtest/gtest.h>

namespace sextant::profile {
namespace {

std::int64_t rounded(std::string_view text) {
  return exact_microseconds(text).value_or(ExactTime{-77, 0}).rounded();
}

TEST(DecimalTime, KeepsEveryNanosecond) {
  EXPECT_EQ(rounded("3852155293612.743"), 3'852'155'293'612'743);
  EXPECT_EQ(rounded("1669783687352244"), 1'669'783'687'352'244'000);
  EXPECT_EQ(rounded("0.001"), 1);
  EXPECT_EQ(rounded("0"), 0);
  EXPECT_EQ(rounded("12."), 12'000);
  // 2^53 + 1 ns has no double.
  EXPECT_EQ(rounded("9007199254740.993"), 9'007'199'254'740'993);
}

TEST(DecimalTime, RoundsOnceAtTheEnd) {
  EXPECT_EQ(rounded("112404.0688155219"), 112'404'069);
  EXPECT_EQ(rounded("0.0005"), 1);
  EXPECT_EQ(rounded("0.0004999"), 0);
  // Each alone would round up: 0.6 + 0.6 ns are 1 ns, not 2.
  const ExactTime half = *exact_microseconds("0.0006");
  EXPECT_EQ((half + half).rounded(), 1);
  EXPECT_EQ(half + half, (ExactTime{1, 200'000}));
}

TEST(DecimalTime, TakesSignsAndExponents) {
  EXPECT_EQ(rounded("-1.5"), -1'500);
  EXPECT_EQ(rounded("-0.0001"), 0);
  EXPECT_EQ(rounded("1.5e3"), 1'500'000);
  EXPECT_EQ(rounded("1.669783687352244E+15"), 1'669'783'687'352'244'000);
  EXPECT_EQ(rounded("15e-4"), 2);
  EXPECT_EQ(rounded("1e-40"), 0);
  EXPECT_EQ(rounded("0.00000000000000000000000000001e25"), 0);
}

TEST(DecimalTime, RefusesWhatIsNoTimeOrBeyondReach) {
  for (const std::string_view text :
       {"", "-", ".5", "1.2.3", "0x10", "1e", "1e99", "1e-99", "NaN", "Infinity", "12a", "1 2",
        "9999999999999999", "99999999999999999999", "4611686018427388.000"}) {
    EXPECT_FALSE(exact_microseconds(text)) << text;
  }
  EXPECT_EQ(rounded("4611686018427387.903"), (std::int64_t{1} << 62U) - 1);
}

}  // namespace
}  // namespace sextant::profile
