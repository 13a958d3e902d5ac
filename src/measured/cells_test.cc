#include "measured/cells.h"

#include <gtest/gtest.h>

namespace sextant::measured {
namespace {

// A table of one column "x" and one row.
Result<CsvTable> table_of(const std::string& cell) {
  return CsvTable::parse("x,y\n" + cell + ",1\n", "t.csv");
}

TEST(Cells, EmptyIsNothingAndNoError) {
  const auto table = table_of("");
  ASSERT_TRUE(table);
  Cells cells(*table, 0);
  EXPECT_FALSE(cells.count("x"));
  EXPECT_FALSE(cells.number("x"));
  EXPECT_FALSE(cells.flag("x"));
  EXPECT_FALSE(cells.count("no such column"));
  EXPECT_TRUE(cells.ok());
}

TEST(Cells, AWholeNumberMayBeWrittenAsADecimal) {
  const auto table = table_of("8.0");
  ASSERT_TRUE(table);
  Cells cells(*table, 0);
  EXPECT_EQ(cells.count("x"), 8);
  EXPECT_EQ(cells.line_id(), "t.csv#2");
}

TEST(Cells, MalformedNumbersAreErrorsWithFileAndLine) {
  for (const char* bad : {"-1", "nan", "inf", "1e999", "12x", "8 GB", "--"}) {
    const auto table = table_of(bad);
    ASSERT_TRUE(table);
    Cells cells(*table, 0);
    EXPECT_FALSE(cells.number("x")) << bad;
    ASSERT_FALSE(cells.ok()) << bad;
    EXPECT_EQ(cells.ok().error().where, "t.csv:2");
    EXPECT_FALSE(cells.ok().error().allowed.empty());
  }
}

TEST(Cells, FractionsAndHugeNumbersAreNoCounts) {
  for (const char* bad : {"0.5", "1e17"}) {
    const auto table = table_of(bad);
    ASSERT_TRUE(table);
    Cells cells(*table, 0);
    EXPECT_FALSE(cells.count("x")) << bad;
    EXPECT_FALSE(cells.ok()) << bad;
  }
}

TEST(Cells, TheFirstErrorIsTheOneKept) {
  const auto table = CsvTable::parse("x,y\na,b\n", "t.csv");
  ASSERT_TRUE(table);
  Cells cells(*table, 0);
  EXPECT_FALSE(cells.number("x"));
  EXPECT_FALSE(cells.number("y"));
  ASSERT_FALSE(cells.ok());
  EXPECT_NE(cells.ok().error().what.find("x is \"a\""), std::string::npos);
}

TEST(Cells, AWordOutsideItsSetNamesTheSet) {
  const auto table = table_of("medium");
  ASSERT_TRUE(table);
  Cells cells(*table, 0);
  EXPECT_FALSE(cells.word("x", {"low", "high"}));
  ASSERT_FALSE(cells.ok());
  EXPECT_EQ(cells.ok().error().allowed, "low, high, or empty");
}

}  // namespace
}  // namespace sextant::measured
