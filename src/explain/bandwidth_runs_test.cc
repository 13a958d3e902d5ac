#include "explain/bandwidth_runs.h"

#include <gtest/gtest.h>

namespace sextant::explain {
namespace {

using measured::CollectiveOp;
using measured::Row;

// A run of one node's eight devices: as many sizes, from 1 MiB, each a row of 100 µs.
void add_run(const std::string& id, CollectiveOp op, int sizes, std::vector<Row>& rows) {
  for (int i = 0; i < sizes; ++i) {
    Row row;
    row.id = id + "#" + std::to_string(i);
    row.table = measured::TableKind::kCollectives;
    row.quantity = "time_us";
    row.measured = 100.0;
    measured::CollectiveSubject subject;
    subject.hardware = id;
    subject.op = op;
    subject.bytes = 1_MiB * static_cast<double>(1 << i);
    subject.ranks = 8;
    subject.nodes = 1;
    subject.links.scale_up = describe::ScaleUp::kNvSwitch;
    row.subject = subject;
    rows.push_back(std::move(row));
  }
}

// Every time is predicted as 50 µs.
std::vector<BandwidthPlot> bandwidth_plots_of(const std::vector<Row>& rows) {
  return bandwidth_plots(rows, measured::validate(rows, [](const Row&) -> measured::Answer {
                           return measured::Prediction{50.0, std::nullopt, {}};
                         }));
}

TEST(BusBandwidth, IsWhatADeviceSendsInARing) {
  std::vector<Row> rows;
  add_run("a", CollectiveOp::kAllReduce, 1, rows);
  add_run("a", CollectiveOp::kAllGather, 1, rows);
  add_run("a", CollectiveOp::kSendReceive, 1, rows);
  // 1 MiB in 100 µs is 10.48576 GB/s; of 8 ranks 7/8 of it, twice that in an all-reduce.
  const auto rate = [](const Row& row, double value) {
    return bus_bandwidth(row, value).value_or(0_GBps) / 1_GBps;
  };
  EXPECT_NEAR(rate(rows[0], 100.0), 10.48576 * 2.0 * 7.0 / 8.0, 1e-9);
  EXPECT_NEAR(rate(rows[1], 100.0), 10.48576 * 7.0 / 8.0, 1e-9);
  EXPECT_NEAR(rate(rows[2], 100.0), 10.48576, 1e-9);
  rows[0].quantity = "algbw_GBps";
  EXPECT_NEAR(rate(rows[0], 4.0), 7.0, 1e-9);
  rows[0].quantity = "busbw_GBps";
  EXPECT_NEAR(rate(rows[0], 4.0), 4.0, 1e-9);
  EXPECT_FALSE(bus_bandwidth(rows[0], 0.0));
  EXPECT_FALSE(bus_bandwidth(Row{}, 1.0));
}

TEST(BandwidthRuns, TheRunWithTheMostRowsOfAnOperationIsDrawn) {
  std::vector<Row> rows;
  add_run("short", CollectiveOp::kAllReduce, 5, rows);
  add_run("long", CollectiveOp::kAllReduce, 7, rows);
  add_run("gather", CollectiveOp::kAllGather, 4, rows);
  add_run("too-few", CollectiveOp::kAllToAll, 3, rows);
  const std::vector<BandwidthPlot> plots = bandwidth_plots_of(rows);
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_EQ(plots[0].name, "bandwidth-one-nvlink-domain");
  EXPECT_EQ(plots[0].title, "one NVLink domain");
  ASSERT_EQ(plots[0].series.size(), 2U);
  const BandwidthSeries& series = plots[0].series[0];
  EXPECT_EQ(series.name, "all-reduce, 8 ranks");
  EXPECT_EQ(series.detail, "long");
  EXPECT_EQ(series.measured.size(), 7U);
  ASSERT_EQ(series.predicted.size(), 7U);
  EXPECT_NEAR(series.predicted[0].rate / series.measured[0].rate, 2.0, 1e-9);
  EXPECT_EQ(plots[0].series[1].name, "all-gather, 8 ranks");
}

TEST(BandwidthRuns, SizesMeasuredTwiceAreOnePointOfTheLine) {
  std::vector<Row> rows;
  add_run("a", CollectiveOp::kAllReduce, 4, rows);
  add_run("a", CollectiveOp::kAllReduce, 4, rows);
  const std::vector<BandwidthPlot> plots = bandwidth_plots_of(rows);
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_EQ(plots[0].series[0].measured.size(), 8U);
  EXPECT_EQ(plots[0].series[0].predicted.size(), 4U);
}

TEST(BandwidthRuns, OnlyScoredRowsAreDrawn) {
  std::vector<Row> rows;
  add_run("a", CollectiveOp::kAllReduce, 6, rows);
  std::get<measured::CollectiveSubject>(rows[0].subject).healthy = false;
  rows[1].refusal = "no";
  const std::vector<BandwidthPlot> plots = bandwidth_plots_of(rows);
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_EQ(plots[0].series[0].measured.size(), 4U);
  rows[2].trust = measured::Trust::kC;  // three sizes are too few
  EXPECT_TRUE(bandwidth_plots_of(rows).empty());
}

TEST(BandwidthRuns, AtMostFiveOfAClass) {
  std::vector<Row> rows;
  int sizes = 4;
  for (const CollectiveOp op :
       {CollectiveOp::kAllReduce, CollectiveOp::kAllGather, CollectiveOp::kReduceScatter,
        CollectiveOp::kAllToAll, CollectiveOp::kSendReceive, CollectiveOp::kBroadcast}) {
    add_run("a", op, sizes++, rows);
  }
  const std::vector<BandwidthPlot> plots = bandwidth_plots_of(rows);
  ASSERT_EQ(plots.size(), 1U);
  ASSERT_EQ(plots[0].series.size(), 5U);
  EXPECT_EQ(plots[0].series[0].name, "all-gather, 8 ranks");  // the all-reduce has the fewest rows
}

}  // namespace
}  // namespace sextant::explain
