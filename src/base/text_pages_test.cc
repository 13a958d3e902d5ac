#include "base/text_pages.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(TextPages, TogetherTheyAreTheText) {
  std::string text;
  for (int i = 0; i < 1'000; ++i) {
    text += "line " + std::to_string(i) + "\n";
  }
  const std::size_t pages = page_of(text, 1, 700).of;
  EXPECT_GT(pages, 10U);
  std::string joined;
  for (std::size_t page = 1; page <= pages; ++page) {
    const TextPage one = page_of(text, page, 700);
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
}  // namespace sextant
