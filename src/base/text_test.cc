#include "base/text.h"

#include <gtest/gtest.h>

#include "base/sha256.h"

namespace sextant {
namespace {

TEST(Text, WholeConversionsOnly) {
  EXPECT_EQ(to_integer("42"), 42);
  for (const char* text : {"", " 42", "42x", "4.2", "99999999999999999999", "+1"}) {
    EXPECT_FALSE(to_integer(text)) << text;
  }
  EXPECT_EQ(to_double("1e3"), 1000.0);
  for (const char* text : {"", "nan", "inf", "1e999", "1.0x", "0x10"}) {
    EXPECT_FALSE(to_double(text)) << text;
  }
}

TEST(Text, ThousandsAreSeparated) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(671026419200), "671,026,419,200");
  EXPECT_EQ(with_thousands(-1000), "-1,000");
}

TEST(Text, EditDistanceCountsASwapAsOne) {
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("llama", "llama"), 0);
  EXPECT_EQ(edit_distance("lalma", "llama"), 1);
  EXPECT_EQ(edit_distance("h100", "h200"), 1);
}

TEST(Text, SuggestsNearWordsNearestFirst) {
  const std::vector<std::string> words{"model", "cluster", "mode", "validate"};
  EXPECT_EQ(nearest_words("modell", words), (std::vector<std::string>{"model", "mode"}));
  EXPECT_EQ(did_you_mean("zzzzzz", words), "");
  EXPECT_EQ(did_you_mean("validat", words), "did you mean validate?");
}

TEST(Text, FindsTheFirstByteThatIsNotUtf8) {
  EXPECT_FALSE(first_invalid_utf8("plain and ü € 𝄞"));
  EXPECT_EQ(first_invalid_utf8("ab\xff"), 2U);
  EXPECT_EQ(first_invalid_utf8(std::string_view("a\0b", 3)), 1U);
  EXPECT_EQ(first_invalid_utf8("\xc0\xaf"), 0U);          // overlong '/'
  EXPECT_EQ(first_invalid_utf8("\xed\xa0\x80"), 0U);      // a surrogate
  EXPECT_EQ(first_invalid_utf8("\xf4\x90\x80\x80"), 0U);  // beyond U+10FFFF
  EXPECT_EQ(first_invalid_utf8("\xe2\x82"), 0U);          // cut short
}

TEST(Text, PrintableHidesControlCharactersAndCuts) {
  EXPECT_EQ(printable("a\x1b[31m"), "a\\x1b[31m");
  EXPECT_EQ(printable("\xff"), "\\xff");
  // U+009B begins an escape too, U+202E turns what follows around, U+2028 ends a line.
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31m"),
            "a\\xc2\\x9b31m");
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b\xe2\x80\xa8"),
            "a\\xe2\\x80\\xaeb\\xe2\\x80\\xa8");
  EXPECT_EQ(printable("\xe2\x81\xa6\xd8\x9c"), "\\xe2\\x81\\xa6\\xd8\\x9c");
  EXPECT_EQ(printable("é…→\u00a0ж"), "é…→\u00a0ж");
  EXPECT_EQ(printable(std::string(200, 'x'), 5), "xxxxx…");
}

TEST(Text, LinesAndColumnsCountFromOne) {
  const LineColumn at = line_column("ab\ncd", 4);
  EXPECT_EQ(at.line, 2);
  EXPECT_EQ(at.column, 2);
}

TEST(Text, WordPrefixesEndAtAHyphen) {
  EXPECT_TRUE(starts_with_word("deepseek-v3-671b", "deepseek-v3"));
  EXPECT_FALSE(starts_with_word("deepseek-v3.2", "deepseek-v3"));
  EXPECT_TRUE(starts_with_word("gpt2", "gpt2"));
}

// FIPS 180-4 examples: "abc", the empty message, and the two-block message.
TEST(Sha256, MatchesTheStandardsExamples) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

}  // namespace
}  // namespace sextant
