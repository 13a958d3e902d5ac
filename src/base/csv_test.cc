#include "base/csv.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/file.h"

namespace sextant {
namespace {

TEST(Csv, ReadsQuotesCommasAndLineBreaks) {
  const auto table = CsvTable::parse("a,b\n1,\"x, \"\"y\"\"\nz\"\r\n3,\n", "t.csv");
  ASSERT_TRUE(table) << to_text(table.error());
  ASSERT_EQ(table->rows(), 2U);
  EXPECT_EQ(table->at(0, 1), "x, \"y\"\nz");
  EXPECT_EQ(table->at(1, 1), "");
  EXPECT_EQ(table->line(1), 4);  // the quoted field spans two lines
  EXPECT_EQ(table->field(0, "a"), "1");
  EXPECT_EQ(table->field(0, "no such column"), "");
  EXPECT_EQ(table->where(1), "t.csv:4");
}

TEST(Csv, AByteOrderMarkIsNotPartOfTheHeader) {
  const auto table = CsvTable::parse("\xEF\xBB\xBFid,x\n1,2\n", "t");
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->column("id"));
}

struct BadCsv {
  const char* text;
  const char* where;
  const char* what;
};

TEST(Csv, BadInputNamesTheLine) {
  for (const BadCsv& c : {BadCsv{"", "t", "empty"},
                          {"a,b\n1\n", "t:2", "1 fields, the header has 2"},
                          {"a,b\n1,2,3\n", "t:2", "3 fields"},
                          {"a,b\n1,\"open\n\n", "t:4", "opened on line 2"},
                          {"a,b\n1,\"x\"y\n", "t:2", "after a closing quote"},
                          {"a\n\xff\n", "t:2:1", "not UTF-8"}}) {
    const auto table = CsvTable::parse(c.text, "t");
    ASSERT_FALSE(table) << c.text;
    EXPECT_EQ(table.error().where, c.where) << c.text;
    EXPECT_NE(table.error().what.find(c.what), std::string::npos) << table.error().what;
  }
}

TEST(Csv, TooManyColumnsAreRefused) {
  EXPECT_FALSE(CsvTable::parse(std::string(2000, ',') + "\n", "t"));
}

TEST(Csv, WhatIsWrittenIsReadBack) {
  EXPECT_TRUE(rc::check([] {
    const auto character = rc::gen::elementOf(std::string("ab ,;\"\n\r\t1"));
    const auto values = *rc::gen::suchThat(
        rc::gen::container<std::vector<std::string>>(rc::gen::container<std::string>(character)),
        [](const std::vector<std::string>& list) { return list.size() > 1; });
    std::string header;
    std::string row;
    for (std::size_t i = 0; i < values.size(); ++i) {
      header += (i == 0 ? "" : ",") + std::to_string(i);
      row += (i == 0 ? "" : ",") + csv_field(values[i]);
    }
    const auto table = CsvTable::parse(header + "\n" + row + "\n", "t");
    RC_ASSERT(table.has_value());
    RC_ASSERT(table->rows() == 1U);
    for (std::size_t i = 0; i < values.size(); ++i) {
      RC_ASSERT(table->at(0, i) == values[i]);
    }
  }));
}

}  // namespace
}  // namespace sextant
