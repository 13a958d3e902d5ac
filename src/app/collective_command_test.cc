#include "app/collective_command.h"

#include <fstream>

#include <gtest/gtest.h>

#include "app/collective_estimate.h"
#include "app/collective_runs.h"
#include "app/collective_sweep.h"
#include "app/testing.h"
#include "describe/cluster/load_cluster.h"

namespace sextant::app {
namespace {

using cost::GroupShape;
using describe::CollectiveOp;
using explain::CollectiveEstimate;

CollectiveQuestion question(const std::string& cluster, std::int64_t stride = 1) {
  CollectiveQuestion made;
  made.cluster = describe::load_cluster(cluster, built_in_data()).value();
  made.stride = stride;
  made.ranks = most_ranks(made.cluster, stride);
  return made;
}

CollectiveEstimate estimate(const CollectiveQuestion& asked) {
  auto found = CollectiveEstimator(built_in_data())(asked);
  EXPECT_TRUE(found) << to_text(found.error());
  return found.value_or(CollectiveEstimate());
}

std::string refusal(const CollectiveQuestion& asked) {
  const auto found = CollectiveEstimator(built_in_data())(asked);
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
      for (const explain::CollectiveWay& way : found.ways) {
        EXPECT_GE(way.total(), found.time);
        EXPECT_LE(rate(found.bus), rate(found.best_rate) * (1.0 + 1e-12)) << cluster;
      }
      const explain::CollectiveWay& best = found.ways.front();
      EXPECT_DOUBLE_EQ((best.latency + best.transfer + best.fill).base(), found.time.base());
      EXPECT_NEAR(rate(found.algorithm) / (asked.bytes / found.time / 1_GBps), 1.0, 1e-12);
    }
  }
}

TEST(CollectiveEstimator, SaysTheSameAsTheCostModel) {
  const CollectiveQuestion asked = question("4xdgx-h100");
  const auto known = machine::CommModels(built_in_data()).of(asked.cluster);
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
  EXPECT_NE(refusal(asked).find("--on: rate of the network not stated"), std::string::npos);
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
            "--ranks: 9 ranks of 2xdgx-h100, which has 16 devices (allowed: 1 to 8 with --stride "
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

TEST(CollectiveSweep, ValuesAloneAreThoseOfTheCluster) {
  const CollectiveQuestion base = question("4xdgx-h100");
  const auto values = [&](const char* text) {
    std::string joined;
    const CollectiveSweep sweep = parse_collective_sweep(text, base, built_in_data()).value();
    for (const SweptQuestion& point : sweep.points) {
      joined += point.value + ";";
    }
    return joined;
  };
  EXPECT_EQ(values("ranks"), "2;4;8;16;32;");
  EXPECT_EQ(values("nodes"), "1;2;4;");
  EXPECT_EQ(values("bytes=1KiB, 2097152B"), "1 KiB;2 MiB;");
  EXPECT_EQ(values("collective=alltoall,ping_pong"), "all_to_all;sendrecv;");
  EXPECT_TRUE(values("bytes").starts_with("1 KiB;2 KiB;"));
  EXPECT_TRUE(values("bytes").ends_with("8 GiB;16 GiB;"));
  EXPECT_EQ(values("link").find("any"), std::string::npos);
  EXPECT_NE(values("link").find("nvlink4;"), std::string::npos);
}

TEST(CollectiveSweep, NodesAreTheRanksInsideThem) {
  const auto ranks = [](const CollectiveQuestion& base, const char* text) {
    return parse_collective_sweep(text, base, built_in_data())
        .value()
        .points.front()
        .question.ranks;
  };
  EXPECT_EQ(ranks(question("4xdgx-h100"), "nodes=2"), 16);
  EXPECT_EQ(ranks(question("4xdgx-h100", 8), "nodes=2"), 2);
  EXPECT_EQ(ranks(question("12xh100-sxm"), "nodes=2"), 12);  // the last node is not full
}

TEST(CollectiveSweep, AFasterNicIsNeverSlower) {
  const CollectiveQuestion base = question("2xdgx-h100");
  CollectiveEstimator estimator(built_in_data());
  Seconds last(1e9);
  const CollectiveSweep sweep = parse_collective_sweep("nic", base, built_in_data()).value();
  for (const SweptQuestion& point : sweep.points) {
    const Seconds time = estimator(point.question).value().time;
    EXPECT_LE(time, last) << point.value;
    last = time;
  }
}

TEST(CollectiveSweep, BadWordsSayWhatIsAllowed) {
  const CollectiveQuestion base = question("8xh100-sxm");
  for (const auto& [text, says] :
       {std::pair{"size", "bytes, ranks, nodes, collective, link, nic"},
        std::pair{"bytes=4", "has no unit"}, std::pair{"bytes=0B", "1 B to 1024 TiB"},
        std::pair{"ranks=0", "whole numbers from 1"}, std::pair{"nic=0Gbit/s", "above 0 Gbit/s"},
        std::pair{"link=nvlink9", "nvlink4"}, std::pair{"collective=gather", "all_gather"}}) {
    const auto sweep = parse_collective_sweep(text, base, built_in_data());
    ASSERT_FALSE(sweep) << text;
    EXPECT_EQ(sweep.error().where, "--sweep");
    EXPECT_NE(to_text(sweep.error()).find(says), std::string::npos) << to_text(sweep.error());
  }
}

// Eight H100 of one node: 1 MiB in as many microseconds.
measured::Row collective_row(const std::string& id, double time_us) {
  measured::Row made;
  made.id = id;
  made.quantity = "time_us";
  made.measured = time_us;
  measured::CollectiveSubject call;
  call.device = "h100-sxm";
  call.hardware = "HGX H100";
  call.links.scale_up = describe::ScaleUp::kNvSwitch;
  call.nodes = 1;
  call.ranks = 8;
  call.bytes = 1_MiB;
  made.subject = call;
  return made;
}

measured::CollectiveSubject& collective_of(measured::Row& made) {
  return std::get<measured::CollectiveSubject>(made.subject);
}

TEST(MatchingRuns, AreOfTheSameOperationRanksDomainsAndGeneration) {
  std::vector<measured::Row> rows{collective_row("a#1", 50.0), collective_row("a#2", 40.0),
                                  collective_row("b#1", 50.0)};
  for (int i = 0; i < 7; ++i) {
    rows.push_back(collective_row("other" + std::to_string(i), 10.0));
  }
  collective_of(rows[3]).op = CollectiveOp::kAllGather;
  collective_of(rows[4]).ranks = 4;
  collective_of(rows[5]).nodes = 2;
  collective_of(rows[6]).device = "a100-sxm-80g";
  collective_of(rows[7]).healthy = false;
  collective_of(rows[8]).forced = measured::ForcedAlgorithm::kRing;
  rows[9].trust = measured::Trust::kC;
  // H200 is of H100's generation.
  const auto runs = matching_runs(rows, question("8xh200-sxm"), built_in_data());
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 2U);
  EXPECT_EQ((*runs)[0].name, "a");  // more rows
  EXPECT_EQ((*runs)[1].name, "b");
  // 1 MiB · 2 · 7 / 8 in 50 us.
  EXPECT_NEAR((*runs)[0].measured[0].rate / 1_GBps, 1.048576 * 1.75 / 0.05, 1e-9);
}

TEST(MatchingRuns, AreSixAtMost) {
  std::vector<measured::Row> rows;
  for (int i = 0; i < 9; ++i) {
    rows.push_back(collective_row("run" + std::to_string(i) + "#1", 50.0));
  }
  EXPECT_EQ(matching_runs(rows, question("8xh100-sxm"), built_in_data()).value().size(), 6U);
}

}  // namespace
}  // namespace sextant::app
