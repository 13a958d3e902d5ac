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

TEST(Pages, TogetherTheyAreTheText) {
  std::string text;
  for (int i = 0; i < 1'000; ++i) {
    text += "line " + std::to_string(i) + "\n";
  }
  const std::size_t pages = page_of(text, 1, 700).of;
  EXPECT_GT(pages, 10U);
  std::string joined;
  for (std::size_t page = 1; page <= pages; ++page) {
    const Page one = page_of(text, page, 700);
    EXPECT_LE(one.text.size(), 700U);
    EXPECT_TRUE(one.text.ends_with('\n'));
    joined += one.text;
  }
  EXPECT_EQ(joined, text);
  EXPECT_EQ(page_of(text, pages + 1, 700).text, "");
  EXPECT_EQ(page_of("", 1, 700).of, 1U);
  // So are bytes that are no UTF-8, none of which begins a character.
  EXPECT_EQ(page_of(std::string(1'500, '\x80'), 3, 700).text.size(), 100U);
  EXPECT_EQ(page_of(std::string(1'500, '\x80'), 1, 1).of, 1'500U);
  // A line that is longer than a page is broken.
  EXPECT_EQ(page_of(std::string(1'500, 'x'), 3, 700).text, std::string(100, 'x'));
}

}  // namespace
}  // namespace sextant::front::mcp
