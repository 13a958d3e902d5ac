#include "diagnose/rule_page.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/places_testing.h"

namespace sextant::diagnose {
namespace {

// With SEXTANT_UPDATE_PAGES set in the environment the page is written instead.
TEST(RuleBook, ThePageIsTheBook) {
  const auto book = RuleBook::load(describe::DataStore());
  ASSERT_TRUE(book) << to_text(book.error());
  const std::filesystem::path page = source_folder() / "docs" / "findings.md";
  if (std::getenv("SEXTANT_UPDATE_PAGES") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
    std::ofstream(page) << findings_page(*book);
  }
  const auto text = read_text(page, 1_MiB);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, findings_page(*book));
}

}  // namespace
}  // namespace sextant::diagnose
