#include "emit/shell_arithmetic.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace sextant::emit {
namespace {

Result<std::int64_t> evaluated(std::string_view text) {
  const std::map<std::string, std::int64_t, std::less<>> values{{"TP", 8}, {"PP", 4}, {"N", 64}};
  return arithmetic(text, [&](std::string_view name) -> Result<std::int64_t> {
    const auto found = values.find(name);
    if (found == values.end()) {
      return invalid(std::string(name) + " is not set");
    }
    return found->second;
  });
}

TEST(ShellArithmetic, GivesWhatBashGives) {
  struct Case {
    std::string_view text;
    std::int64_t value;
  };
  // Each value is bash's own: echo $((…)) with TP=8 PP=4 N=64.
  for (const Case& c : {Case{"1+2*3", 7},
                        Case{"(1+2)*3", 9},
                        Case{"2**3**2", 512},
                        Case{"-7/2", -3},
                        Case{"-7%2", -1},
                        Case{"N/(TP*PP)", 2},
                        Case{"N * TP", 512},
                        Case{"TP > PP ? 10 : 20", 10},
                        Case{"0 ? 1 : 0 ? 2 : 3", 3},
                        Case{"1 << 10", 1024},
                        Case{"0x10 + 010", 24},
                        Case{"!0 + ~0", 0},
                        Case{"5 & 3 | 8 ^ 1", 9},
                        Case{"1 - 1 - 1", -1},
                        Case{"10 - 2 * 3", 4},
                        Case{"1 << 2 + 1", 8},
                        Case{"3 == 3 && 2 != 2", 0},
                        Case{" 12 ", 12},
                        Case{"2 ** 0", 1},
                        Case{"(-1) ** 1000000000001", -1}}) {
    const auto value = evaluated(c.text);
    ASSERT_TRUE(value) << c.text << ": " << value.error().what;
    EXPECT_EQ(*value, c.value) << c.text;
  }
}

TEST(ShellArithmetic, RefusesWhatHasNoSingleValue) {
  for (const std::string_view text : {"",
                                      "1+",
                                      "1/0",
                                      "1%0",
                                      "9223372036854775807+1",
                                      "9223372036854775808",
                                      "2**64",
                                      "2**-1",
                                      "X+1",
                                      "TP=4",
                                      "TP++",
                                      "++TP",
                                      "(1",
                                      "1)",
                                      "1 ? 2",
                                      "1.5",
                                      "0x",
                                      "08",
                                      "1<<63",
                                      "a b",
                                      "-9223372036854775807-2"}) {
    EXPECT_EQ(evaluated(text).has_value(), text == std::string_view("0x")) << text;
  }
  EXPECT_FALSE(evaluated("(-9223372036854775807-1)/-1"));
}

TEST(ShellArithmetic, DeepBracketsEndInAnError) {
  EXPECT_FALSE(evaluated(std::string(100'000, '(')));
  EXPECT_FALSE(evaluated(std::string(100'000, '~') + "1"));
  std::string sum = "1";
  for (int i = 0; i < 10'000; ++i) {
    sum += "+1";
  }
  EXPECT_EQ(evaluated(sum).value(), 10'001);
}

}  // namespace
}  // namespace sextant::emit
