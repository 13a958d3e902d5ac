#include "describe/toml_table.h"

#include <gtest/gtest.h>

#include "base/quantity_text.h"

namespace sextant::describe {
namespace {

TEST(TomlTable, ReadsValuesWithTheirPlace) {
  const auto table =
      TomlTable::parse("\xEF\xBB\xBFname = \"größe\"  # naïve\nnodes = 4\n", "t.toml");
  ASSERT_TRUE(table) << to_text(table.error());
  EXPECT_EQ(*table->text("name"), "größe");
  EXPECT_EQ(*table->integer("nodes", 1, 8), 4);
  EXPECT_EQ(table->where("nodes"), "t.toml:2:9");
  EXPECT_EQ(table->integer("nodes", 5, 8).error().where, "t.toml:2:9");
  EXPECT_EQ(table->text("nodes").error().what, "nodes is not a string");
}

TEST(TomlTable, ASourcedValueNeedsAllThreeParts) {
  const auto table = TomlTable::parse(
      "[a]\nvalue = \"4 GB\"\nkind = \"paper\"\nsource = \"x\"\n[b]\nvalue = \"4 GB\"\n[c]\nvalue "
      "= "
      "\"4 GB\"\nkind = \"paper\"\nsource = \"x\"\nnote = \"y\"\n",
      "t.toml");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->sourced("a", parse_bytes)->value, 4_GB);
  EXPECT_FALSE(table->sourced("b", parse_bytes));
  EXPECT_NE(table->sourced("c", parse_bytes).error().what.find("note"), std::string::npos);
  EXPECT_FALSE(table->optional_sourced("absent", parse_bytes)->has_value());
}

// Found by fuzzing: toml++ 3.3 runs into __builtin_unreachable on U+FEF7 where it looks for white
// space.
TEST(TomlTable, LettersBeyondAsciiOutsideStringsAreRefusedBeforeTheLibrarySeesThem) {
  for (const char* text :
       {"\xEF\xBB\xB7 = \"lspi\"", "\xEF\xBB\x9FoUtut = -", "a = [\n\xEF\xBB\xB7]"}) {
    const auto table = TomlTable::parse(text, "t.toml");
    ASSERT_FALSE(table);
    EXPECT_NE(table.error().what.find("ASCII"), std::string::npos) << table.error().what;
  }
}

// Found by fuzzing: toml++ 3.3 asserts that a key follows "[".
TEST(TomlTable, AHeaderWithoutAKeyIsAnErrorNotAnAssertion) {
  EXPECT_FALSE(TomlTable::parse("[#}7", "t.toml"));
}

// toml++ 3.3 looks for white space in a bare value without minding quotes, and meets undefined
// behaviour on this letter.
TEST(TomlTable, AQuoteInsideABareValueIsRefusedBeforeTheLibrarySeesIt) {
  const auto table = TomlTable::parse("3=+!-+7'\xCF\x9A a\n\"\n", "x.toml");
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().what.find("quote"), std::string::npos);
}

TEST(TomlEntries, EveryValueHasItsKeyItsTextAndItsPlace) {
  constexpr std::string_view kText =
      "top = 1_000\n[a.b]\nname = \"é x\" # why\nlist = [[\"p\", \"q\"], [], [1]]\n"
      "[[stages]]\non = true\n";
  const auto entries = toml_entries(kText, "t.toml");
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 4U);
  EXPECT_EQ((*entries)[0].key, "top");
  EXPECT_EQ((*entries)[0].values, std::vector<std::string>{"1_000"});
  const TomlEntry& name = (*entries)[1];
  EXPECT_EQ(name.key, "a.b.name");
  EXPECT_EQ(name.line, 3);
  EXPECT_EQ(kText.substr(name.offset, name.length), "\"é x\"");
  EXPECT_EQ((*entries)[2].values, (std::vector<std::string>{"p,q", "", "1"}));
  EXPECT_EQ((*entries)[2].length, 0U);
  EXPECT_EQ((*entries)[3].key, "stages.0.on");
  EXPECT_FALSE(toml_entries("a = ", "t.toml"));
}

TEST(TomlEntries, ManyListsInOneLineAreNotDeep) {
  std::string text = "a = [";
  for (int i = 0; i < 100; ++i) {
    text += "[1],";
  }
  EXPECT_TRUE(toml_entries(text + "]", "t.toml"));
  EXPECT_FALSE(toml_entries("a = " + std::string(17, '[') + std::string(17, ']'), "t.toml"));
}

}  // namespace
}  // namespace sextant::describe
