#include "profile/json_skim.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <rapidjson/reader.h>

namespace sextant::profile {
namespace {

// Padded as whoever owns a text sees to; what stands behind is foreign and must not matter.
struct Padded {
  explicit Padded(const std::string& text)
      : bytes(text + std::string(kSkimPadding, '"')), size(text.size()) {}
  [[nodiscard]] const char* begin() const { return bytes.data(); }
  [[nodiscard]] const char* end() const { return bytes.data() + size; }
  std::string bytes;
  std::size_t size;
};

Skim skim(const std::string& text, RawEvent& event) {
  static std::vector<Padded> kept;  // slices live as long
  kept.emplace_back(text);
  return skim_event(kept.back().begin(), kept.back().end(), event).state;
}

TEST(JsonSkim, FindsTheFieldsOfAnEvent) {
  RawEvent event;
  ASSERT_EQ(skim(R"({"ph": "X", "cat":"kernel" , "name": "a\"}{b", "pid": 0,"tid": "stream 7",
    "ts": 12.5, "dur":3, "args": {"x": [1, {"y": "]}"}], "stream": 7}, "s": null})",
                 event),
            Skim::kWhole);
  EXPECT_EQ(event.ph.text, "X");
  EXPECT_EQ(event.cat.text, "kernel");
  EXPECT_EQ(event.name.text, R"(a\"}{b)");
  EXPECT_TRUE(event.name.is_escaped);
  EXPECT_EQ(unescaped(event.name), "a\"}{b");
  EXPECT_EQ(event.pid.text, "0");
  EXPECT_EQ(event.tid.text, "stream 7");
  EXPECT_EQ(event.ts.text, "12.5");
  EXPECT_EQ(event.dur.text, "3");
  EXPECT_EQ(event.args.text, R"({"x": [1, {"y": "]}"}], "stream": 7})");
}

TEST(JsonSkim, AnEventThatIsNotAllThereIsCutAndNotBroken) {
  const std::string text = R"({"ph":"X","name":"a\\","args":{"b":[1,2,"c"]},"ts":1})";
  RawEvent event;
  for (std::size_t size = 1; size < text.size(); ++size) {
    EXPECT_EQ(skim(text.substr(0, size), event), Skim::kCut) << size;
  }
  EXPECT_EQ(skim(text, event), Skim::kWhole);
}

TEST(JsonSkim, WhatIsNoJsonIsBroken) {
  RawEvent event;
  for (const std::string text :
       {R"({ph:"X"})", R"({"ph" "X"})", R"({"ph":"X" "ts":1})", R"({"ph":,"ts":1})",
        R"({"ph":"X"]})", R"({"ts":1}2,"x":3})", R"({1:2})"}) {
    const Skim state = skim(text, event);
    EXPECT_TRUE(state == Skim::kBroken || text == R"({"ts":1}2,"x":3})") << text;
  }
}

TEST(JsonSkim, RawControlCharactersAndForeignBytesStay) {
  RawEvent event;
  ASSERT_EQ(skim("{\"name\":\"a\nb\x01\xff\",\"ph\":\"X\"}", event), Skim::kWhole);
  EXPECT_EQ(event.name.text, "a\nb\x01\xff");
  EXPECT_EQ(event.ph.text, "X");
}

TEST(JsonSkim, DeepNestingCostsNoStack) {
  RawEvent event;
  const std::string deep(1'000'000, '[');
  const std::string closed(1'000'000, ']');
  EXPECT_EQ(skim("{\"args\":" + deep + closed + ",\"ph\":\"X\"}", event), Skim::kWhole);
  EXPECT_EQ(event.ph.text, "X");
  EXPECT_EQ(skim("{\"args\":" + deep, event), Skim::kCut);
}

TEST(JsonSkim, OfEqualKeysTheLastCountsAndEscapedOnesAreKeysToo) {
  RawEvent event;
  ASSERT_EQ(skim(R"({"ph":"X","\u0070h":"i","tid":1,"tid":2})", event), Skim::kWhole);
  EXPECT_EQ(event.ph.text, "i");
  EXPECT_EQ(event.tid.text, "2");
}

TEST(JsonSkim, EscapesAreUndone) {
  const auto undone = [](const char* text) {
    return unescaped({RawValue::Type::kString, true, text});
  };
  EXPECT_EQ(undone(R"(a\n\t\/\\\"\u0041\u00e9\u20ac)"), "a\n\t/\\\"A\u00e9\u20ac");
  EXPECT_EQ(undone(R"(\ud83d\ude00)"), "\U0001F600");
  EXPECT_EQ(undone(R"(\ud83d\u0041)"), "\ufffdA");
  EXPECT_EQ(undone(R"(\uZZ)"), R"(\uZZ)");
  EXPECT_EQ(undone("a\\"), "a\\");
}

// Any JSON: of its outermost members the fields found are those that RapidJSON hands on.
struct Found {
  char type = '-';
  std::string text;
};

class OuterMembers : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, OuterMembers> {
 public:
  bool Default() { return put({'w', ""}); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    return put({'n', std::string(text, size)});
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return put({'s', std::string(text, size)});
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    if (depth_ == 1) {
      key_ = std::string(text, size);
    }
    return true;
  }
  bool StartObject() { return open(); }
  bool StartArray() { return open(); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }
  std::map<std::string, Found> members;

 private:
  bool put(Found found) {
    if (depth_ == 1) {
      members[key_] = std::move(found);
    }
    return true;
  }
  bool open() {
    put({'o', ""});
    depth_ += 1;
    return true;
  }
  bool close() {
    depth_ -= 1;
    return true;
  }
  int depth_ = 0;
  std::string key_;
};

std::string random_string() {
  return '"' +
         *rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
                           "a", "\\\"", "\\\\", "{", "}", "[", "]", ":", ",", " ", "\\n", "\\u0041",
                           "\\ud83d\\ude00", "twenty characters of")),
                       [](const std::vector<std::string>& parts) {
                         std::string text;
                         for (const std::string& part : parts) {
                           text += part;
                         }
                         return text;
                       }) +
         '"';
}

std::string blank() {
  return *rc::gen::element<std::string>("", "", " ", "\n   ", "\t\r\n");
}

std::string random_value(int depth) {
  const int kind = *rc::gen::inRange(0, depth > 3 ? 4 : 6);
  if (kind == 0) {
    return std::to_string(*rc::gen::arbitrary<std::int64_t>());
  }
  if (kind == 1) {
    return *rc::gen::element<std::string>("true", "false", "null", "-1.5e-7", "0.25");
  }
  if (kind < 4) {
    return random_string();
  }
  std::string text(1, kind == 4 ? '[' : '{');
  const int members = *rc::gen::inRange(0, 4);
  for (int i = 0; i < members; ++i) {
    text += (i > 0 ? "," : "") + blank();
    text += kind == 4 ? "" : random_string() + blank() + ":" + blank();
    text += random_value(depth + 1) + blank();
  }
  return text + (kind == 4 ? ']' : '}');
}

void same(const RawValue& found, const std::map<std::string, Found>& members, const char* key) {
  const auto member = members.find(key);
  if (member == members.end()) {
    RC_ASSERT(found.type == RawValue::Type::kNone);
    return;
  }
  const char type = member->second.type;
  RC_ASSERT(found.is_string() == (type == 's'));
  RC_ASSERT(found.is_number() == (type == 'n'));
  RC_ASSERT(found.is_nested() == (type == 'o'));
  if (type == 's') {
    RC_ASSERT(unescaped(found) == member->second.text);
  } else if (type == 'n') {
    RC_ASSERT(found.text == member->second.text);
  }
}

RC_GTEST_PROP(JsonSkim, AgreesWithAParser, ()) {
  std::string json = "{" + blank();
  const int members = *rc::gen::inRange(0, 12);
  for (int i = 0; i < members; ++i) {
    const bool is_field = *rc::gen::arbitrary<bool>();
    json += (i > 0 ? "," : "") + blank();
    json += is_field ? *rc::gen::element<std::string>(R"("ph")", R"("cat")", R"("args")",
                                                      R"("name")", R"("pid")", R"("id")",
                                                      R"("tid")", R"("ts")", R"("dur")")
                     : random_string();
    json += blank() + ":" + blank() + random_value(0) + blank();
  }
  const Padded text(json + "}");
  OuterMembers parsed;
  rapidjson::Reader reader;
  // In place: its stack for texts adds to a null pointer, which UBSan does not let pass.
  std::string copy = json + "}";
  rapidjson::InsituStringStream stream(copy.data());
  constexpr unsigned kFlags = rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseInsituFlag;
  RC_ASSERT(!reader.Parse<kFlags>(stream, parsed).IsError());
  RawEvent event;
  const Skimmed skimmed = skim_event(text.begin(), text.end(), event);
  RC_ASSERT(skimmed.state == Skim::kWhole);
  RC_ASSERT(skimmed.at == text.end());
  same(event.ph, parsed.members, "ph");
  same(event.cat, parsed.members, "cat");
  same(event.args, parsed.members, "args");
  same(event.name, parsed.members, "name");
  same(event.pid, parsed.members, "pid");
  same(event.id, parsed.members, "id");
  same(event.tid, parsed.members, "tid");
  same(event.ts, parsed.members, "ts");
  same(event.dur, parsed.members, "dur");
}

}  // namespace
}  // namespace sextant::profile
