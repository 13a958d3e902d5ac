#include "machine/collective_estimate.h"

#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"
#include "describe/cluster/torus.h"

namespace sextant::machine {
namespace {

using cost::GroupShape;
using describe::CollectiveOp;

const describe::DataStore& collective_data() {
  static const describe::DataStore kData;
  return kData;
}

CollectiveQuestion question(const std::string& cluster, std::int64_t stride = 1) {
  CollectiveQuestion made;
  made.cluster = describe::load_cluster(cluster, collective_data()).value();
  made.stride = stride;
  made.ranks = most_ranks(made.cluster, stride);
  return made;
}

CollectiveEstimate estimate(const CollectiveQuestion& asked) {
  auto found = CollectiveEstimator(collective_data())(asked);
  EXPECT_TRUE(found) << to_text(found.error());
  return found.value_or(CollectiveEstimate());
}

std::string refusal(const CollectiveQuestion& asked) {
  const auto found = CollectiveEstimator(collective_data())(asked);
  return found ? std::string("answered") : to_text(found.error());
}

// In GB/s; 0 where there is none.
double rate(const std::optional<BytesPerSecond>& found) {
  return found.value_or(0_GBps) / 1_GBps;
}

void expect_shape(const GroupShape& shape, std::int64_t domains, std::int64_t per_domain) {
  EXPECT_EQ(shape.domains, domains);
  EXPECT_EQ(shape.per_domain, per_domain);
  EXPECT_EQ(shape.sharing, 1);
  EXPECT_GE(shape.domains * shape.per_domain, shape.ranks);
}

TEST(StridedGroup, FillsDomainsInTheOrderOfRanks) {
  expect_shape(strided_group(1, 1, 8), 1, 1);
  expect_shape(strided_group(8, 1, 8), 1, 8);
  expect_shape(strided_group(12, 1, 8), 2, 8);
  expect_shape(strided_group(8, 2, 8), 2, 4);   // 0, 2, 4, 6 and four of the next
  expect_shape(strided_group(6, 3, 8), 2, 3);   // 0, 3, 6 and 9, 12, 15
  expect_shape(strided_group(4, 8, 8), 4, 1);   // one a domain
  expect_shape(strided_group(4, 16, 8), 4, 1);  // every second domain
  expect_shape(strided_group(72, 1, 72), 1, 72);
}

TEST(CollectiveEstimator, OneRankSendsNothing) {
  const CollectiveEstimate alone = estimate(question("1xh100-sxm"));
  EXPECT_EQ(alone.time, Seconds());
  EXPECT_TRUE(alone.ways.empty());
  EXPECT_FALSE(alone.bus);
}

TEST(CollectiveEstimator, TheAnswerIsTheQuickestWayAndItsTermsAddUp) {
  for (const char* cluster : {"8xh100-sxm", "2xdgx-h100", "4xdgx-h100", "144xgb200", "v5p-512"}) {
    for (const CollectiveOp op :
         {CollectiveOp::kAllReduce, CollectiveOp::kAllGather, CollectiveOp::kReduceScatter,
          CollectiveOp::kAllToAll, CollectiveOp::kSendReceive, CollectiveOp::kBroadcast}) {
      CollectiveQuestion asked = question(cluster);
      asked.op = op;
      asked.bytes = 64_MiB;
      const CollectiveEstimate found = estimate(asked);
      ASSERT_FALSE(found.ways.empty());
      for (const CollectiveWay& way : found.ways) {
        EXPECT_GE(way.total(), found.time);
        EXPECT_LE(rate(found.bus), rate(found.best_rate) * (1.0 + 1e-12)) << cluster;
      }
      const CollectiveWay& best = found.ways.front();
      EXPECT_DOUBLE_EQ((best.latency + best.transfer + best.fill).base(), found.time.base());
      EXPECT_NEAR(rate(found.algorithm) / (asked.bytes / found.time / 1_GBps), 1.0, 1e-12);
    }
  }
}

TEST(CollectiveEstimator, SaysTheSameAsTheCostModel) {
  const CollectiveQuestion asked = question("4xdgx-h100");
  const auto known = CommModels(collective_data()).of(asked.cluster);
  ASSERT_TRUE(known);
  const GroupShape group{32, 4, 8, 1};
  const CollectiveEstimate found = estimate(asked);
  EXPECT_DOUBLE_EQ(
      found.time.base(),
      cost::collective_time(CollectiveOp::kAllReduce, 1_GiB, group, known->model).base());
  ASSERT_TRUE(found.hierarchical);
  EXPECT_DOUBLE_EQ(found.hierarchical.value_or(cost::HierarchicalTerms()).total().base(),
                   cost::hierarchical_all_reduce(1_GiB, group, known->model).total().base());
  EXPECT_EQ(found.network, "ib");
  EXPECT_EQ(found.links, "nvlink4");
  EXPECT_TRUE(found.spread);
}

TEST(CollectiveEstimator, NeedsNoNetworkInsideADomain) {
  CollectiveQuestion asked = question("2xdgx-h100");
  asked.cluster.system.nic_rate.reset();
  EXPECT_NE(refusal(asked).find("‹on›: rate of the network not stated"), std::string::npos);
  asked.ranks = 8;
  EXPECT_EQ(estimate(asked).network, "");
}

TEST(CollectiveEstimator, CardsOfOneHostDoNotGoThroughItsNics) {
  // PCIe joins no scale-up domain, yet eight cards of a host are one group without a network.
  const CollectiveEstimate found = estimate(question("8xl40s"));
  EXPECT_EQ(found.group.domains, 1);
  EXPECT_EQ(found.network, "");
  EXPECT_EQ(found.links, "pcie4-l40s");
  EXPECT_GE(found.spread.value_or(0.0), 2.0);  // another host may be laid out otherwise
  EXPECT_EQ(estimate(question("16xl40s")).group.domains, 2);
}

TEST(CollectiveEstimator, RefusesGroupsLargerThanTheCluster) {
  CollectiveQuestion asked = question("2xdgx-h100", 2);
  EXPECT_EQ(asked.ranks, 8);
  asked.ranks = 9;
  EXPECT_EQ(refusal(asked),
            "‹ranks›: 9 ranks of 2xdgx-h100, which has 16 devices (allowed: 1 to 8 with ‹stride› "
            "2)");
}

TEST(TorusAxes, AreRingsWhereTheyAreAsLongAsThePodOrOfWholeCubes) {
  const auto rings = [](const char* cluster) {
    std::string text;
    const std::array<cost::TorusAxis, 3> axes = cost::torus_axes(question(cluster).cluster);
    for (const cost::TorusAxis& axis : axes) {
      text += std::to_string(axis.chips) + (axis.ring ? "r " : "l ");
    }
    return text;
  };
  EXPECT_EQ(rings("v5p-128"), "4r 4r 4r ");  // 64 chips: one cube
  EXPECT_EQ(rings("v5p-16"), "2l 2l 2l ");
  EXPECT_EQ(rings("v5e-256"), "1l 16r 16r ");  // a whole pod
  EXPECT_EQ(rings("v5e-64"), "1l 8l 8l ");     // two-dimensional: no cubes
}

TEST(CollectiveEstimator, ATorusUsesTheLinksOfAllItsAxes) {
  // 4 x 4 x 4 rings have 6 directions of 100 GB/s, of which 0.9 is reached: 540 GB/s.
  const CollectiveEstimate found = estimate(question("v5p-128"));
  EXPECT_NEAR(rate(found.bus), 540.0, 1e-6);
  EXPECT_FALSE(found.spread);
  EXPECT_EQ(found.links, "torus");
}

TEST(CollectiveEstimator, ATorusAnswersForWholeSlicesOnly) {
  CollectiveQuestion asked = question("2xv5e-256");
  EXPECT_NE(refusal(asked).find("between slices are not modelled"), std::string::npos);
  asked.ranks = 256;
  EXPECT_EQ(estimate(asked).group.ranks, 256);
  asked.ranks = 64;
  EXPECT_NE(refusal(asked).find("a part of a slice"), std::string::npos);
}

}  // namespace
}  // namespace sextant::machine
