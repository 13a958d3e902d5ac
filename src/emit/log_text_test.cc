#include "emit/log_text.h"

#include <gtest/gtest.h>

namespace sextant::emit {
namespace {

TEST(LeadingNumber, ReadsWhatLogsPrint) {
  struct Case {
    std::string_view text;
    double value;
    std::string_view rest;
  };
  for (const Case& c : {Case{" 1234.5 |", 1234.5, " |"}, Case{"7,132  tflops", 7132.0, "  tflops"},
                        Case{"3.214, TFLOP", 3.214, ", TFLOP"}, Case{"1.1E+01 |", 11.0, " |"},
                        Case{"51.20GiB(64.7%)", 51.2, "GiB(64.7%)"}, Case{"-3", -3.0, ""},
                        Case{"1,234,567", 1234567.0, ""}, Case{"12,34", 12.0, ",34"},
                        Case{"5e", 5.0, "e"}, Case{"+2", 2.0, ""}, Case{"9.09s", 9.09, "s"}}) {
    const auto number = leading_number(c.text);
    ASSERT_TRUE(number) << c.text;
    EXPECT_DOUBLE_EQ(number->value, c.value) << c.text;
    EXPECT_EQ(number->rest, c.rest);
  }
}

TEST(LeadingNumber, IsNothingForWordsAndWhatDoesNotFit) {
  for (const std::string_view text : {"", "  ", "nan", "inf", "-inf", "abc", ".", "-", "1e999"}) {
    EXPECT_FALSE(leading_number(text)) << text;
  }
  EXPECT_FALSE(leading_number(std::string(100, '1')));
}

TEST(ScaledNumber, KnowsThousandsAndMillions) {
  EXPECT_DOUBLE_EQ(*scaled_number("1.23K"), 1230.0);
  EXPECT_DOUBLE_EQ(*scaled_number(" 4.19M |"), 4.19e6);
  EXPECT_DOUBLE_EQ(*scaled_number("52 |"), 52.0);
}

TEST(TextAfter, FindsWholeLabelsOnly) {
  const std::string_view line =
      "encoder-tensor-model-parallel size: 0, tensor-model-parallel size: 4";
  EXPECT_EQ(integer_after(line, "tensor-model-parallel size:"), 4);
  EXPECT_EQ(number_after("relative_loss: 3, loss: 2.5", "loss:"), 2.5);
  EXPECT_FALSE(text_after("batch-size: 8", "size:"));
}

TEST(WithoutColours, LeavesTheText) {
  std::string room;
  EXPECT_EQ(without_colours("plain", room), "plain");
  EXPECT_EQ(without_colours("\x1b[31mstep: 2  \x1b[1;39mloss\x1b[0m", room), "step: 2  loss");
  EXPECT_EQ(without_colours("cut \x1b[3", room), "cut ");
  EXPECT_EQ(without_colours("\x1b", room), "");
}

TEST(WithoutRank, TakesTheLaunchersMarkOff) {
  EXPECT_EQ(without_rank("[rank0]: a"), " a");
  EXPECT_EQ(without_rank("[default12]:a"), "a");
  EXPECT_EQ(without_rank(" 3:   a"), "   a");
  EXPECT_EQ(without_rank("[1,0]<stdout>:a"), "a");
  EXPECT_EQ(without_rank("12:30:05 a"), "12:30:05 a");
  EXPECT_EQ(without_rank("  name: a"), "  name: a");
}

TEST(PrintedValues, AreThoseOfPython) {
  EXPECT_EQ(printed_values("['core_attn', 'mlp']"), (std::vector<std::string>{"core_attn", "mlp"}));
  EXPECT_EQ(printed_values("(1, 2)"), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(printed_values(" True "), std::vector<std::string>{"true"});
  EXPECT_EQ(printed_values("[[1], [2]]"), std::vector<std::string>{"[[1], [2]]"});
  for (const std::string_view text : {"None", "", "[]", "()", "null", "[None]"}) {
    EXPECT_FALSE(printed_values(text)) << text;
  }
  EXPECT_FALSE(printed_values(std::string(100'000, 'x')));
}

}  // namespace
}  // namespace sextant::emit
