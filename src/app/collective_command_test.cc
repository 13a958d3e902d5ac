#include "app/collective_command.h"

#include <fstream>

#include <gtest/gtest.h>

#include "app/collective_runs.h"
#include "app/collective_sweep.h"
#include "app/testing.h"
#include "describe/cluster/load_cluster.h"
#include "machine/collective_estimate.h"

namespace sextant::app {
namespace {

using describe::CollectiveOp;

machine::CollectiveQuestion question(const std::string& cluster, std::int64_t stride = 1) {
  machine::CollectiveQuestion made;
  made.cluster = describe::load_cluster(cluster, built_in_data()).value();
  made.stride = stride;
  made.ranks = machine::most_ranks(made.cluster, stride);
  return made;
}

TEST(CollectiveSweep, ValuesAloneAreThoseOfTheCluster) {
  const machine::CollectiveQuestion base = question("4xdgx-h100");
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
  const auto ranks = [](const machine::CollectiveQuestion& base, const char* text) {
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
  const machine::CollectiveQuestion base = question("2xdgx-h100");
  machine::CollectiveEstimator estimator(built_in_data());
  Seconds last(1e9);
  const CollectiveSweep sweep = parse_collective_sweep("nic", base, built_in_data()).value();
  for (const SweptQuestion& point : sweep.points) {
    const Seconds time = estimator(point.question).value().time;
    EXPECT_LE(time, last) << point.value;
    last = time;
  }
}

TEST(CollectiveSweep, BadWordsSayWhatIsAllowed) {
  const machine::CollectiveQuestion base = question("8xh100-sxm");
  for (const auto& [text, says] :
       {std::pair{"size", "bytes, ranks, nodes, collective, link, nic"},
        std::pair{"bytes=4", "has no unit"}, std::pair{"bytes=0B", "1 B to 1024 TiB"},
        std::pair{"ranks=0", "whole numbers from 1"}, std::pair{"nic=0Gbit/s", "above 0 Gbit/s"},
        std::pair{"link=nvlink9", "nvlink4"}, std::pair{"collective=gather", "all_gather"}}) {
    const auto sweep = parse_collective_sweep(text, base, built_in_data());
    ASSERT_FALSE(sweep) << text;
    EXPECT_EQ(sweep.error().where, "‹sweep›");
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
