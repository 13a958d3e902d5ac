#include "calibrate/nccl_calls.h"

#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"

namespace sextant::calibrate {
namespace {

describe::Cluster cluster_of(const std::string& word) {
  auto cluster = describe::load_cluster(word, describe::DataStore());
  EXPECT_TRUE(cluster) << to_text(cluster.error());
  return *cluster;
}

measured::NcclTable table_of(std::int64_t ranks, std::optional<std::int64_t> nodes) {
  measured::NcclTable table;
  table.op = describe::CollectiveOp::kAllReduce;
  table.ranks = ranks;
  table.nodes = nodes;
  return table;
}

TEST(ShapeOn, RanksLieOnTheHostsThatTheTableNames) {
  struct Case {
    std::string cluster;
    std::int64_t ranks;
    std::optional<std::int64_t> nodes;
    std::int64_t domains;
    std::int64_t per_domain;
  };
  for (const Case& at : std::vector<Case>{{"4xdgx-h100", 8, 1, 1, 8},
                                          {"4xdgx-h100", 8, 4, 4, 2},
                                          {"4xdgx-h100", 4, 4, 4, 1},
                                          {"4xdgx-h100", 12, std::nullopt, 2, 6},
                                          {"4xdgx-h100", 8, std::nullopt, 1, 8},
                                          // 18 trays of four make a domain.
                                          {"144xgb200", 72, 18, 1, 72},
                                          {"144xgb200", 144, 36, 2, 72},
                                          {"144xgb200", 16, 4, 1, 16}}) {
    const auto shape = shape_on(table_of(at.ranks, at.nodes), cluster_of(at.cluster));
    ASSERT_TRUE(shape) << to_text(shape.error());
    EXPECT_EQ(shape->domains, at.domains) << at.cluster << " " << at.ranks;
    EXPECT_EQ(shape->per_domain, at.per_domain) << at.cluster << " " << at.ranks;
  }
}

TEST(ShapeOn, TooSmallAClusterIsNamedWithTheRanks) {
  const describe::Cluster cluster = cluster_of("2xdgx-h100");
  const auto ranks = shape_on(table_of(32, std::nullopt), cluster);
  ASSERT_FALSE(ranks);
  EXPECT_EQ(ranks.error().what, "32 ranks were timed, but 2xdgx-h100 has 16 devices");
  const auto hosts = shape_on(table_of(16, 4), cluster);
  ASSERT_FALSE(hosts);
  EXPECT_EQ(hosts.error().what, "ranks of 4 hosts were timed, but 2xdgx-h100 has 2 nodes");
  const auto host = shape_on(table_of(16, 1), cluster);
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().what,
            "16 ranks of a host were timed, but a node of 2xdgx-h100 has 8 devices");
  measured::NcclTable split = table_of(8, std::nullopt);
  split.groups = 4;
  const auto groups = shape_on(split, cluster);
  ASSERT_FALSE(groups);
  EXPECT_EQ(groups.error().what, "4 groups of 8 ranks were timed, but 2xdgx-h100 has 16 devices");
}

}  // namespace
}  // namespace sextant::calibrate
