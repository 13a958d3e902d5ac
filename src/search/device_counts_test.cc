#include "search/device_counts.h"

#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"

namespace sextant::search {
namespace {

TEST(DeviceCounts, CountsAreWholeNodesAndPartsOfOne) {
  const auto cluster = describe::load_cluster("48xh100-sxm", describe::DataStore());
  ASSERT_TRUE(cluster);
  EXPECT_EQ(device_counts(*cluster), (std::vector<std::int64_t>{1, 2, 4, 8, 16, 24, 32, 40, 48}));
}

TEST(DeviceCounts, OfManyNodesNotEachIsTried) {
  const auto cluster = describe::load_cluster("16384xh100-sxm", describe::DataStore());
  ASSERT_TRUE(cluster);
  const std::vector<std::int64_t> counts = device_counts(*cluster);
  EXPECT_EQ(counts.front(), 1);
  EXPECT_EQ(counts.back(), 16384);
  EXPECT_LT(counts.size(), 200U);
}

}  // namespace
}  // namespace sextant::search
