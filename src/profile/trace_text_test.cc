#include "profile/trace_text.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::profile {
namespace {

class Collected final : public TraceHandler {
 public:
  bool event(const RawEvent& event) override {
    names.push_back(std::string(event.name.text));
    return names.size() < enough;
  }
  void value(const RawValue& key, const RawValue& value) override {
    values.push_back(std::string(key.text) + "=" + std::string(value.text.substr(0, 40)));
  }
  void next_document() override { documents += 1; }
  std::vector<std::string> names;
  std::vector<std::string> values;
  int documents = 0;
  std::size_t enough = 1'000'000'000;
};

struct Walked {
  Collected found;
  TraceTextFacts facts;
};

void walk(const std::string& text, Walked& walked) {
  auto source = bytes_of(text, 1'000'000'000);
  ASSERT_TRUE(source);
  const auto facts = walk_trace(**source, walked.found, {});
  ASSERT_TRUE(facts);
  walked.facts = *facts;
}

std::string named(const std::string& name) {
  return R"({"ph":"X","name":")" + name + R"(","args":{"name":"no event","list":[1,{}]}})";
}

using Names = std::vector<std::string>;

TEST(TraceText, BothFormsAndAnyOrderOfKeys) {
  for (const std::string& text :
       {"[" + named("a") + "," + named("b") + "]", "[" + named("a") + "\n" + named("b"),
        R"({"traceEvents":[)" + named("a") + " ,\n" + named("b") + R"(],"z":{"y":[1]}})",
        "\xef\xbb\xbf"
        R"({"z":{"y":[1]},"traceEvents":[)" +
            named("a") + "," + named("b") + "]}",
        R"({"schemaVersion":1,"traceEvents":[)" + named("a") + "," + named("b") + ",]}"}) {
    Walked walked;
    walk(text, walked);
    EXPECT_EQ(walked.found.names, (Names{"a", "b"})) << text;
    EXPECT_EQ(walked.facts.events, 2);
    EXPECT_EQ(walked.facts.documents, 1);
    EXPECT_EQ(walked.facts.damaged, 0) << text;
    EXPECT_EQ(walked.facts.bytes, static_cast<std::int64_t>(text.size()));
  }
}

TEST(TraceText, ValuesOfTheOuterObjectAreHandedOn) {
  Walked walked;
  walk(R"({"a":1,"b":"x\"y","c":[{"d":2}],"traceEvents":[],"e":null})", walked);
  EXPECT_EQ(walked.found.values, (Names{"a=1", R"(b=x\"y)", R"(c=[{"d":2}])", "e=null"}));
  EXPECT_TRUE(walked.facts.is_complete);
}

TEST(TraceText, AValueOfAnySizeIsPassedOver) {
  const std::string long_list = "[\"" + std::string(3'000'000, 'x') + "\\\"]\"]";
  Walked walked;
  walk(R"({"a":)" + long_list + R"(,"b":2,"traceEvents":[)" + named("e") + "]}", walked);
  EXPECT_EQ(walked.found.values, Names{"b=2"});
  EXPECT_EQ(walked.found.names, Names{"e"});
}

// Wherever the file is cut: every event before is whole, and the rest is said.
TEST(TraceText, CutAnywhereItKeepsWhatIsWhole) {
  const std::string a = R"({"x":1,"traceEvents":[)" + named("a") + ",";
  const std::string text = a + named("b") + "]}";
  for (std::size_t size = 0; size < text.size(); ++size) {
    Walked walked;
    walk(text.substr(0, size), walked);
    const std::size_t whole = size >= text.size() - 2 ? 2 : size >= a.size() - 1 ? 1 : 0;
    EXPECT_EQ(walked.found.names.size(), whole) << size;
    EXPECT_FALSE(walked.facts.is_complete);
    EXPECT_EQ(walked.facts.damaged, 0) << size;
  }
}

TEST(TraceText, EventsBehindDamageAreFoundAgain) {
  const std::string begin = R"({"traceEvents":[)" + named("a") + ",";
  const std::string end = "," + named("b") + "," + named("c") + "]}";
  for (const std::string damage :
       {"garbage", R"({"ph":"X","name":"half","ts":12)", R"({"ph":"X",name:3})",
        R"({"ph":"X","name":"no end of this)", R"("stray")", "{}}", "\x01\x02\xff", "]]",
        R"({"ph":"X","args":{"name":"open","list":[1,2})"}) {
    Walked walked;
    walk(begin + damage + end, walked);
    const Names& names = walked.found.names;
    ASSERT_GE(names.size(), 3U) << damage;
    EXPECT_EQ(names.front(), "a") << damage;
    EXPECT_EQ(names[names.size() - 2], "b") << damage;
    EXPECT_EQ(names.back(), "c") << damage;
    EXPECT_GE(walked.facts.damaged, 1) << damage;
  }
}

TEST(TraceText, DocumentsMayFollowOneAnother) {
  const std::string one = R"({"schemaVersion":1,"traceEvents":[)" + named("a") + "]}";
  const std::string two = R"({"schemaVersion":1,"traceEvents":[)" + named("b") + "]}\n";
  for (const std::string& between : {std::string(), std::string("\n"), std::string("junk")}) {
    Walked walked;
    walk(one + between + two, walked);
    EXPECT_EQ(walked.found.names, (Names{"a", "b"}));
    EXPECT_EQ(walked.found.documents, 1);
    EXPECT_EQ(walked.facts.documents, 2);
  }
  // The first breaks off, within an event or between two.
  for (const std::size_t lost : {2U, 20U}) {
    Walked walked;
    walk(one.substr(0, one.size() - lost) + two, walked);
    EXPECT_EQ(walked.found.names.back(), "b");
    EXPECT_EQ(walked.found.documents, 1) << lost;
  }
}

TEST(TraceText, AnEventThatIsTooLongIsLeftOutAndCounted) {
  const std::string giant =
      R"({"ph":"X","name":"giant","args":{"x":")" + std::string(kLongestEvent * 2, 'x') + "\"}}";
  Walked walked;
  walk("[" + named("a") + "," + giant + "," + named("b") + "]", walked);
  EXPECT_EQ(walked.found.names, (Names{"a", "b"}));
  EXPECT_EQ(walked.facts.too_long, 1);
  const std::string large =
      R"({"ph":"X","name":"large","args":{"x":")" + std::string(kLongestEvent / 2, 'x') + "\"}}";
  Walked other;
  walk("[" + named("a") + "," + large + "," + named("b") + "]", other);
  EXPECT_EQ(other.found.names, (Names{"a", "large", "b"}));
}

// Every '{' begins what looks like an event and never ends: the same bytes must not be read once
// for each of them. (Twelve megabytes a megabyte long each would be hours.)
TEST(TraceText, WorkIsLinearInHostileText) {
  std::string text = "[";
  while (text.size() < 12'000'000) {
    text += R"({"ph":[)";
  }
  Walked walked;
  walk(text, walked);
  EXPECT_TRUE(walked.found.names.empty());
  EXPECT_GT(walked.facts.damaged + walked.facts.too_long, 0);
}

TEST(TraceText, TheHandlerMayHaveEnough) {
  Walked walked;
  walked.found.enough = 1;
  walk("[" + named("a") + "," + named("b") + "]", walked);
  EXPECT_EQ(walked.found.names, Names{"a"});
}

}  // namespace
}  // namespace sextant::profile
