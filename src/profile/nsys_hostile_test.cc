// Sqlite files that lie.
#include <string>

#include <gtest/gtest.h>

#include "profile/nsys.h"
#include "profile/nsys_database.h"
#include "profile/nsys_testing.h"

namespace sextant::profile {
namespace {

constexpr const char* kSmall =
    "CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "INSERT INTO StringIds VALUES (1,'gemm');";
constexpr const char* kTable =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId, "
    "globalPid, demangledName);";

std::size_t spans_of(const Result<timeline::Recording>& recording) {
  return recording ? recording->timeline.spans().size() : 0;
}

bool says(const Result<timeline::Recording>& recording, std::string_view words) {
  if (!recording) {
    return false;
  }
  for (const timeline::Unread& entry : recording->unread) {
    if (entry.what.find(words) != std::string::npos) {
      return true;
    }
  }
  return false;
}

Result<timeline::Recording> read_hostile(const std::string& bytes) {
  return read_nsys_bytes(bytes, "hostile.sqlite", plain_nsys_options());
}

TEST(HostileNsys, ColumnsOfOtherTypesAreCounted) {
  const auto recording = read_hostile(database_of(
      std::string(kSmall) + kTable +
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('x',2,0,7,1,0,1),(1,x'00',0,7,1,0,1),"
      "(NULL,NULL,NULL,NULL,NULL,NULL,NULL),(9,3,0,7,1,0,1),(1.5,3,0,7,1,0,1),"
      "(9223372036854775807,9223372036854775807,0,7,1,0,1),(5.0,6,0,7,1,0,1),(1,2,0,7,1,0,99);"));
  // 5.0 is a whole number; a kernel without a name is one.
  EXPECT_EQ(spans_of(recording), 2U);
  EXPECT_TRUE(says(recording, "kernels without a start or an end"));
  EXPECT_TRUE(says(recording, "kernels that end before they start"));
  EXPECT_TRUE(says(recording, "names of kernels"));
}

TEST(HostileNsys, ViewsAndTriggersAreNotAsked) {
  const auto recording = read_hostile(database_of(
      std::string(kSmall) +
      "CREATE TABLE t(x); CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END;"
      // A view that would never end.
      "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT "
      "n+1 FROM r) SELECT n AS start, n AS end, 0 AS deviceId FROM r;"));
  ASSERT_TRUE(recording);
  EXPECT_EQ(spans_of(recording), 0U);
}

TEST(HostileNsys, ColumnsThatAreComputedAreNotAsked) {
  // Eighteen megabytes a value.
  const std::string bytes =
      database_of(std::string(kSmall) +
                  "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(deviceId, start AS "
                  "(length(hex(zeroblob(9000000)))), "
                  "end AS (length(hex(zeroblob(9000000)))));"
                  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(deviceId) VALUES (0),(1);");
  EXPECT_TRUE(Database::held(bytes, "")->has("CUPTI_ACTIVITY_KIND_KERNEL", "deviceId"));
  EXPECT_FALSE(Database::held(bytes, "")->has("CUPTI_ACTIVITY_KIND_KERNEL", "start"));
  EXPECT_TRUE(says(read_hostile(bytes), "kernels without a start or an end"));
}

TEST(HostileNsys, AStringBeyondTheLimitIsNotHeld) {
  const auto recording = read_hostile(database_of(
      std::string(kSmall) + kTable +
      "INSERT INTO StringIds VALUES (2, replace(hex(zeroblob(9000000)),'0','k'));"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,1,0,2),(3,4,0,7,1,0,1);"));
  ASSERT_TRUE(recording);
  EXPECT_EQ(spans_of(recording), 2U);
  EXPECT_TRUE(says(recording, "names of kernels"));
}

TEST(HostileNsys, ALongNameIsCut) {
  const auto recording = read_hostile(
      database_of(std::string(kSmall) + kTable +
                  "INSERT INTO StringIds VALUES (2, replace(hex(zeroblob(50000)),'0','k'));"
                  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,1,0,2);"));
  ASSERT_EQ(spans_of(recording), 1U);
  EXPECT_EQ(recording->timeline.label_of(recording->timeline.spans()[0]).name.size(),
            kLongestNsysName);
}

TEST(HostileNsys, StreamsAndSpansAreBounded) {
  const std::string bytes =
      database_of(std::string(kSmall) + kTable +
                  "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n < 30000) "
                  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT n, n+1, 0, n, n, 0, 1 FROM r;");
  const auto recording = read_hostile(bytes);
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->timeline.lanes().size(), kMostNsysLanes);
  EXPECT_TRUE(says(recording, "work on streams beyond"));
  NsysOptions few = plain_nsys_options();
  few.most_spans = 10;
  const auto cut = read_nsys_bytes(bytes, "hostile.sqlite", few);
  EXPECT_EQ(spans_of(cut), 10U);
  EXPECT_TRUE(says(cut, "spans beyond the most"));
}

// A page of a table's tree that names itself as its own child has rows without end.
TEST(HostileNsys, ATreeThatContainsItselfEnds) {
  std::string bytes =
      database_of(std::string(kSmall) + kTable +
                  "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n < 20000) "
                  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT n, n+1, 0, 7, n, 0, 1 FROM r;");
  const std::size_t page = 4096;
  for (std::size_t at = page; at + page <= bytes.size(); at += page) {
    // Source: SQLite, Database File Format, 1.6: 5 is an inner page of a table; its cells' numbers
    // of pages follow, which all become those of the last one.
    if (bytes[at] == 5) {
      const std::size_t cells = static_cast<unsigned char>(bytes[at + 3]) * 256U +
                                static_cast<unsigned char>(bytes[at + 4]);
      for (std::size_t cell = 1; cell < cells; ++cell) {
        bytes[at + 12 + 2 * cell] = bytes[at + 12];
        bytes[at + 13 + 2 * cell] = bytes[at + 13];
      }
    }
  }
  const auto recording = read_hostile(bytes);
  // It ends, with no more rows than fit the file.
  EXPECT_LE(spans_of(recording), bytes.size() / Database::kFewestBytesARow);
}

TEST(HostileNsys, ATruncatedFileYieldsWhatIsWhole) {
  const std::string bytes =
      database_of(std::string(kSmall) + kTable +
                  "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n < 20000) "
                  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT n, n+1, 0, 7, n, 0, 1 FROM r;");
  const auto recording = read_hostile(bytes.substr(0, bytes.size() / 2));
  ASSERT_TRUE(recording) << to_text(recording.error());
  EXPECT_GT(spans_of(recording), 1000U);
  EXPECT_LT(spans_of(recording), 20000U);
  EXPECT_TRUE(says(recording, "bytes that the file should have and has not"));
  EXPECT_TRUE(says(recording, "the rest of a damaged table: CUPTI_ACTIVITY_KIND_KERNEL"));
}

TEST(HostileNsys, AnyDamageEnds) {
  const std::string whole =
      database_of(std::string(kSmall) + kTable +
                  "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, globalTid);"
                  "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n < 300) "
                  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT n, n+1, 0, 7, n, 0, 1 FROM r;"
                  "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n < 300) "
                  "INSERT INTO NVTX_EVENTS SELECT n, n+1, 59, 'step ' || n, 5 FROM r;");
  std::uint64_t random = 12345;
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole;
    for (int change = 0; change < 20; ++change) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      // The magic stays, so that it is opened at all.
      const std::size_t at = 16 + (random >> 20U) % (damaged.size() - 16);
      damaged[at] = static_cast<char>(random >> 56U);
    }
    const auto recording = read_hostile(damaged);
    EXPECT_LE(spans_of(recording), 2 * damaged.size() / Database::kFewestBytesARow);
  }
}

}  // namespace
}  // namespace sextant::profile
