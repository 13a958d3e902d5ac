#include "base/collective.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

constexpr std::array<CollectiveOp, 4> kShared{CollectiveOp::kAllReduce, CollectiveOp::kAllGather,
                                              CollectiveOp::kReduceScatter,
                                              CollectiveOp::kAllToAll};

TEST(BusShare, OneRankSharesNothing) {
  for (const CollectiveOp op : kShared) {
    EXPECT_EQ(bus_share(op, 1), 0.0);
  }
}

// nccl-tests, doc/PERFORMANCE.md: 2(n-1)/n and (n-1)/n; a copy passes once.
TEST(BusShare, IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_share(CollectiveOp::kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_share(CollectiveOp::kAllGather, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_share(CollectiveOp::kReduceScatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_share(CollectiveOp::kAllToAll, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_share(CollectiveOp::kSendReceive, 2), 1.0);
  EXPECT_DOUBLE_EQ(bus_share(CollectiveOp::kBroadcast, 8), 1.0);
}

}  // namespace
}  // namespace sextant
