#include "search/device_counts.h"

#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"

namespace sextant::search {
namespace {

TEST(DeviceCounts, CountsAreWholeNodesAndPartsOfOne) {
  const auto cluster = describe::load_cluster("48xh100-sxm", describe::DataStore());
  ASSERT_TRUE(cluster);
  // Six nodes: 1, 2, 3, 6 and these doubled, up to six.
  EXPECT_EQ(device_counts(*cluster), (std::vector<std::int64_t>{1, 2, 4, 8, 16, 24, 32, 48}));
}

}  // namespace
}  // namespace sextant::search
