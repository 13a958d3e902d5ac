#include "describe/json_value.h"

#include <string>

#include <gtest/gtest.h>

#include "describe/json_value_testing.h"

namespace sextant::describe {
namespace {

Result<JsonValue> parsed_json(std::string_view text) {
  return JsonValue::parse(text, "x.json");
}

std::string json_error(std::string_view text) {
  const Result<JsonValue> value = parsed_json(text);
  return value ? "no error" : to_text(value.error());
}

JsonValue member(std::string_view text, std::string_view key) {
  return at(*parsed_json(text), key);
}

TEST(JsonValue, ReadsEachKind) {
  const Result<JsonValue> value = parsed_json(
      R"({"n": 3, "x": 1.5, "s": "text", "b": true, "l": [1, 2], "o": {"k": 1}, "z": null})");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->kind(), JsonValue::Kind::kObject);
  EXPECT_EQ(at(*value, "n").integer(0, 10), 3);
  EXPECT_EQ(at(*value, "x").number(), 1.5);
  EXPECT_EQ(at(*value, "s").text(), "text");
  EXPECT_EQ(at(*value, "b").boolean(), true);
  EXPECT_EQ(at(*value, "l").elements().size(), 2U);
  EXPECT_EQ(at(at(*value, "o"), "k").integer(0, 1), 1);
  EXPECT_EQ(value->size(), 7U);
  EXPECT_EQ(value->keys().size(), 7U);
  EXPECT_EQ(at(*value, "l").json(), "[1,2]");
}

TEST(JsonValue, NullIsStatedButNoMember) {
  const Result<JsonValue> value = parsed_json(R"({"z": null})");
  ASSERT_TRUE(value);
  EXPECT_FALSE(value->member("z"));
  EXPECT_TRUE(value->states("z"));
  EXPECT_FALSE(value->states("y"));
  EXPECT_FALSE(value->member("y"));
}

TEST(JsonValue, MembersOfWhatIsNoObjectAreNothing) {
  const Result<JsonValue> value = parsed_json("[1]");
  ASSERT_TRUE(value);
  EXPECT_FALSE(value->member("a"));
  EXPECT_FALSE(value->states("a"));
  EXPECT_TRUE(value->keys().empty());
  EXPECT_TRUE(parsed_json("3")->elements().empty());
  EXPECT_EQ(parsed_json("3")->size(), 0U);
}

TEST(JsonValue, AnIntegralDoubleIsAnInteger) {
  EXPECT_EQ(member(R"({"n": 4096.0})", "n").integer(0, 10000), 4096);
  EXPECT_EQ(member(R"({"n": 1e3})", "n").integer(0, 10000), 1000);
}

TEST(JsonValue, NumbersOutOfRangeAreRefusedWithWhatIsAllowed) {
  for (const std::string_view number :
       {"-1", "11", "1.5", "1e300", "-1e300", "18446744073709551615", "99999999999999999999",
        "\"3\"", "true", "[3]"}) {
    const std::string text = "{\"n\": " + std::string(number) + "}";
    const Result<std::int64_t> value = member(text, "n").integer(0, 10);
    ASSERT_FALSE(value) << number;
    EXPECT_EQ(value.error().allowed, "an integer from 0 to 10");
    EXPECT_EQ(value.error().where, "x.json:1 (n)");
  }
}

TEST(JsonValue, WrongKindsAreRefused) {
  const JsonValue number = member(R"({"n": 3})", "n");
  EXPECT_FALSE(number.text());
  EXPECT_FALSE(number.boolean());
  EXPECT_FALSE(member(R"({"n": "x"})", "n").number());
}

TEST(JsonValue, WhereNamesTheLineOfTheKey) {
  const Result<JsonValue> value =
      parsed_json("{\n  \"a\": 1,\n  \"b\": {\n    \"c\": [1, \"x\"]\n  }\n}");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->where(), "x.json");
  EXPECT_EQ(at(*value, "a").where(), "x.json:2 (a)");
  EXPECT_EQ(at(at(*value, "b"), "c").where(), "x.json:4 (c)");
  EXPECT_EQ(at(at(*value, "b"), "c").elements()[1].where(), "x.json:4 (c[1])");
}

TEST(JsonValue, WhereSkipsTheKeyInsideAString) {
  const JsonValue value = member("{\n\"a\": \"\\\"b\\\": 1\",\n\"b\": 2}", "b");
  EXPECT_EQ(value.where(), "x.json:3 (b)");
}

TEST(JsonValue, WhereOfAKeyInTheInnerObjectIsTheInnerLine) {
  const Result<JsonValue> value = parsed_json("{\n\"n\": 1,\n\"inner\": {\n\"n\": 2}}");
  ASSERT_TRUE(value);
  EXPECT_EQ(at(at(*value, "inner"), "n").where(), "x.json:4 (n)");
}

TEST(JsonValue, WhereWithoutALineForAnEscapedKey) {
  const JsonValue value = member(R"({"\u0061b": 2})", "ab");
  EXPECT_EQ(value.where(), "x.json (ab)");
}

TEST(JsonValue, SyntaxErrorsHaveLineAndColumn) {
  // The stray comma is at line 2, column 8.
  EXPECT_NE(json_error("{\n\"a\": 1,,}").find("x.json:2:8: not JSON: syntax error"),
            std::string::npos)
      << json_error("{\n\"a\": 1,,}");
}

TEST(JsonValue, HostileTextsAreErrors) {
  for (const std::string_view text :
       {"", "{", "{\"a\":", "nul", "NaN", "{\"a\": NaN}", "{\"a\": Infinity}", "{\"a\": 1e400}",
        R"("\ud800")", "[1] 2", "\xff\xfe", "{'a': 1}"}) {
    EXPECT_FALSE(parsed_json(text)) << text;
  }
  EXPECT_NE(json_error("{\"a\": \"\xc3\x28\"}").find("not UTF-8"), std::string::npos);
  EXPECT_FALSE(parsed_json(std::string_view("{\0}", 3)));
}

TEST(JsonValue, DepthIsBoundedBeforeParsing) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_TRUE(parsed_json(nested(64)));
  EXPECT_NE(json_error(nested(65)).find("nested too deeply"), std::string::npos);
  EXPECT_NE(json_error(std::string(1'000'000, '[')).find("nested too deeply"), std::string::npos);
  // Brackets inside a string are text.
  EXPECT_TRUE(parsed_json("\"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\""));
}

TEST(JsonValue, SizeIsBounded) {
  EXPECT_FALSE(JsonValue::parse("[1, 2, 3]", "x.json", Bytes(4.0)));
  EXPECT_TRUE(JsonValue::parse("[1, 2, 3]", "x.json", Bytes(9.0)));
}

TEST(JsonValue, CopiesOutliveTheFirstValue) {
  JsonValue kept = *parsed_json("0");
  {
    const Result<JsonValue> value = parsed_json(R"({"a": {"b": 7}})");
    ASSERT_TRUE(value);
    kept = at(*value, "a");
  }
  EXPECT_EQ(at(kept, "b").integer(0, 9), 7);
}

}  // namespace
}  // namespace sextant::describe
