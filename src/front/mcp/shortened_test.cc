#include "front/mcp/shortened.h"

#include <gtest/gtest.h>

namespace sextant::front::mcp {
namespace {

Json numbers(int count) {
  Json list = Json::array();
  for (int i = 0; i < count; ++i) {
    list.push_back(i);
  }
  return list;
}

TEST(Shortened, WhatFitsStaysWhole) {
  const Json value{{"a", numbers(10)}, {"b", "text"}};
  const Shortened cut = shortened(value, 100);
  EXPECT_EQ(cut.value, value);
  EXPECT_TRUE(cut.cuts.empty());
}

TEST(Shortened, ListsKeepTheirFirstMembersAndSayHowManyThereAre) {
  const Shortened cut = shortened({{"plans", numbers(10'000)}}, 500);
  EXPECT_LE(one_line(cut.value).size(), 500U);
  ASSERT_EQ(cut.cuts.size(), 1U);
  EXPECT_EQ(cut.cuts[0].at, "/plans");
  EXPECT_EQ(cut.cuts[0].of, 10'000U);
  EXPECT_EQ(cut.cuts[0].kept, cut.value["plans"].size());
  EXPECT_EQ(cut.value["plans"][0], 0);
}

TEST(Shortened, EveryCutIsAPointerToWhatWasCut) {
  Json value;
  for (int i = 0; i < 30; ++i) {
    value["list"].push_back({{"a/b~c", std::string(500, 'x')}, {"deep", {{"er", numbers(90)}}}});
  }
  const Shortened cut = shortened(value, 3'000);
  EXPECT_LE(one_line(cut.value).size(), 3'000U);
  ASSERT_FALSE(cut.cuts.empty());
  EXPECT_LE(cut.cuts.size(), kMostCuts);
  for (const Cut& one : cut.cuts) {
    const Json::json_pointer at(one.at);
    ASSERT_TRUE(value.contains(at)) << one.at;
    const Json& whole = value.at(at);
    EXPECT_EQ(one.of, whole.is_string() ? whole.get<std::string>().size() : whole.size()) << one.at;
  }
}

TEST(Shortened, ATextIsNotCutWithinACharacter) {
  std::string text;
  for (int i = 0; i < 5'000; ++i) {
    text += "é";
  }
  const Shortened cut = shortened({{"t", text}}, 1'000);
  EXPECT_EQ(one_line(cut.value).find("\xef\xbf\xbd"), std::string::npos);
  EXPECT_TRUE(cut.value["t"].get<std::string>().ends_with("é…"));
}

}  // namespace
}  // namespace sextant::front::mcp
