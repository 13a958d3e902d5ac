#include "explain/html.h"

#include <gtest/gtest.h>

namespace sextant::explain {
namespace {

TEST(Html, NothingThatANameHoldsIsMarkup) {
  EXPECT_EQ(html_text("<script>alert(\"1\" & '2')</script>"),
            "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;");
  EXPECT_EQ(html_text(std::string("a\0b\n\xff", 5)), "a\\x00b\\x0a\\xff");
  EXPECT_EQ(html_text("größer"), "größer");
}

// RFC 4648, section 10.
TEST(Html, DataIsWrittenInBase64) {
  const std::string head = "data:application/json;base64,";
  EXPECT_EQ(data_link(""), head);
  EXPECT_EQ(data_link("f"), head + "Zg==");
  EXPECT_EQ(data_link("fo"), head + "Zm8=");
  EXPECT_EQ(data_link("foo"), head + "Zm9v");
  EXPECT_EQ(data_link("foobar"), head + "Zm9vYmFy");
}

TEST(Html, ATableWithoutRowsIsNothing) {
  EXPECT_EQ(html_table({{{"a"}}, {}}), "");
  EXPECT_EQ(html_section("title", html_table({{{"a"}}, {}})), "");
}

}  // namespace
}  // namespace sextant::explain
