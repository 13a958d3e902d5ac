#include "emit/log_literal.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sextant::emit {
namespace {

std::string literal_text(const std::vector<LiteralField>& fields) {
  std::string text;
  for (const LiteralField& field : fields) {
    text += field.path + "=";
    for (const std::string& value : field.values) {
      text += value + ";";
    }
    text += " ";
  }
  return text;
}

TEST(LiteralFields, ReadJson) {
  EXPECT_EQ(literal_text(literal_fields(
                R"({"a": 1, "b": {"c": true, "d": null, "e": [1, 2]}, "f": "x: {y}", "g": {}})")),
            "a=1; b.c=true; b.e=1;2; f=x: {y}; ");
}

TEST(LiteralFields, ReadPythonDictionaries) {
  EXPECT_EQ(literal_text(literal_fields("{'a': True, 'b': {'c': None, 'd': \"it's\"}}")),
            "a=true; b.d=it's; ");
}

TEST(LiteralFields, ReadPythonObjects) {
  EXPECT_EQ(literal_text(literal_fields("Config(p=Args(dp=2, mode=<Mode.REDUCE_SCATTER: 2>,\n"
                                        "  engine=<a.b.Engine object at 0x7f>), t=torch.bfloat16,\n"
                                        "  path=PosixPath('x/y'))")),
            "p.dp=2; p.mode=REDUCE_SCATTER; p.engine=Engine; t=bfloat16; path=x/y; ");
}

TEST(LiteralFields, KeepWhatStoodBeforeABreak) {
  EXPECT_EQ(literal_text(literal_fields(R"({"a": 1, "b": {"c": 2, )")), "a=1; b.c=2; ");
  EXPECT_EQ(literal_text(literal_fields(R"({"a": 1 ? "b": 2})")), "a=1; ");
  EXPECT_TRUE(literal_fields("").empty());
}

TEST(LiteralFields, EndOnDeepNesting) {
  EXPECT_TRUE(literal_fields(std::string(100'000, '[')).empty());
  EXPECT_TRUE(literal_fields(std::string(100'000, '{')).empty());
}

RC_GTEST_PROP(LiteralFields, EndOnAnyText, (const std::string& text)) {
  literal_fields(text);
  literal_fields("{\"a\": " + text);
}

TEST(BracketDepth, FollowsLinesAndSkipsQuotes) {
  BracketDepth brackets;
  brackets.take("{\"a\": \"}\", ");
  EXPECT_EQ(brackets.depth, 1);
  brackets.take("'b': [1, 2]}");
  EXPECT_EQ(brackets.depth, 0);
}

}  // namespace
}  // namespace sextant::emit
