#include "search/shifts.h"

#include <gtest/gtest.h>

namespace sextant::search {
namespace {

TEST(NearBatch, IsTheBatchItselfWhereTheDevicesDivideIt) {
  EXPECT_EQ(near_batch(1024, 64), 1024);
  EXPECT_EQ(near_batch(1, 1), 1);
}

// 72 · 14 = 1008 is nearer to 1024 than 72 · 15.
TEST(NearBatch, IsAMultipleOfTheDevices) {
  EXPECT_EQ(near_batch(1024, 72), 1008);
  EXPECT_EQ(near_batch(1024, 24), 1032);
}

// 100 · 8 devices would not have four sequences each: multiples of 200 leave each a few with pp or
// tp.
TEST(NearBatch, IsAMultipleOfAPartOfManyDevices) {
  EXPECT_EQ(near_batch(1024, 800), 1000);
  EXPECT_EQ(near_batch(2, 72), 9);
}

}  // namespace
}  // namespace sextant::search
