#include "explain/json.h"

#include <gtest/gtest.h>

namespace sextant::explain {
namespace {

TEST(Json, IsIndentedByTwoAndEndsItsLine) {
  EXPECT_EQ(dumped({{"tp", 8}}), "{\n  \"tp\": 8\n}\n");
}

// Names come from users' files. U+FFFD is EF BF BD in UTF-8.
TEST(Json, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(dumped({{"model", "lla\xFFma"}}), "{\n  \"model\": \"lla\xEF\xBF\xBDma\"\n}\n");
  EXPECT_EQ(dumped({{"k\xC3", 1}}), "{\n  \"k\xEF\xBF\xBD\": 1\n}\n") << "a character cut short";
}

}  // namespace
}  // namespace sextant::explain
