#include "measured/comm_scores.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/places_testing.h"
#include "measured/table.h"

namespace sextant::measured {
namespace {

// One node; measured as 10.
Row collective(const std::string& hardware, Bytes bytes, const std::string& id = "a#1") {
  Row row;
  row.id = id;
  row.table = TableKind::kCollectives;
  row.quantity = "time_us";
  row.measured = 10.0;
  CollectiveSubject subject;
  subject.hardware = hardware;
  subject.bytes = bytes;
  subject.links.scale_up = describe::ScaleUp::kNvSwitch;
  subject.nodes = 1;
  subject.ranks = 8;
  row.subject = subject;
  return row;
}

Row expert(const std::string& library, const std::string& mode, std::int64_t nodes,
           const std::string& hardware) {
  Row row;
  row.table = TableKind::kEpAllToAll;
  row.quantity = "time_us";
  row.measured = 10.0;
  EpAllToAllSubject subject;
  subject.library = library;
  subject.mode = mode;
  subject.nodes = nodes;
  subject.hardware = hardware;
  row.subject = subject;
  return row;
}

// The scores where row i is predicted as values[i]; below zero it is refused.
CommScores comm_scores_of(const std::vector<Row>& rows, const std::vector<double>& values) {
  std::size_t next = 0;
  return comm_scores(rows, validate(rows, [&](const Row&) -> Answer {
                       const double value = values.at(next++);
                       if (value < 0.0) {
                         return Refusal{"why not"};
                       }
                       return Prediction{value, std::nullopt, {}};
                     }));
}

CollectiveScores collectives_of(const std::vector<Row>& rows, const std::vector<double>& values) {
  const std::optional<CollectiveScores> scores = comm_scores_of(rows, values).collectives;
  EXPECT_TRUE(scores);
  return scores.value_or(CollectiveScores{});
}

TEST(CommScores, NothingOfOtherTables) {
  EXPECT_TRUE(comm_scores({}, {}).empty());
  EXPECT_TRUE(comm_scores_of({Row{}}, {1.0}).empty());
}

TEST(CommScores, ASystemCountsOnceHoweverManyRowsItHas) {
  // System x: errors 0.1, 0.1, 0.1; system y: −0.5. Over rows (0.3 + 0.5) / 4 = 0.2, over systems
  // (0.1 + 0.5) / 2 = 0.3, bias (0.3 − 0.5) / 4 = −0.05.
  const CollectiveScores scores = collectives_of({collective("x", 1_MiB), collective("x", 1_MiB),
                                                  collective("x", 1_GiB), collective("y", 1_MiB)},
                                                 {11.0, 11.0, 11.0, 5.0});
  const SizedScore& total = scores.total;
  EXPECT_EQ(total.all.rows, 4);
  EXPECT_EQ(total.all.systems, 2);
  EXPECT_NEAR(total.all.mean.value_or(-9.0), 0.2, 1e-12);
  EXPECT_NEAR(total.all.macro.value_or(-9.0), 0.3, 1e-12);
  EXPECT_NEAR(total.all.bias.value_or(-9.0), -0.05, 1e-12);
  const auto at = [&](SizeBucket bucket) { return total.by_size[static_cast<size_t>(bucket)]; };
  EXPECT_EQ(at(SizeBucket::kBelow32KB).rows, 0);
  EXPECT_FALSE(at(SizeBucket::kBelow32KB).macro);
  EXPECT_EQ(at(SizeBucket::kBelow16MB).rows, 3);
  EXPECT_NEAR(at(SizeBucket::kBelow16MB).macro.value_or(-9.0), 0.3, 1e-12);
  EXPECT_NEAR(at(SizeBucket::kFrom256MB).macro.value_or(-9.0), 0.1, 1e-12);
  ASSERT_EQ(scores.systems.size(), 2U);
  EXPECT_EQ(scores.systems[0].name, "y");  // the worst comes first
  EXPECT_EQ(scores.systems[1].score.rows, 3);
}

TEST(CommScores, OnlyHealthyTrustedPredictedRowsAreScored) {
  std::vector<Row> rows{collective("x", 1_B), collective("x", 1_B), collective("x", 1_B),
                        collective("x", 1_B), collective("x", 1_B)};
  std::get<CollectiveSubject>(rows[1].subject).healthy = false;
  rows[2].trust = Trust::kC;
  rows[4].measured = 0.0;
  const CollectiveScores scores = collectives_of(rows, {11.0, 90.0, 90.0, -1.0, 90.0});
  const CommCounts& counts = scores.counts;
  EXPECT_EQ(counts.rows, 5);
  EXPECT_EQ(counts.unhealthy, 1);
  EXPECT_EQ(counts.untrusted, 2);
  EXPECT_EQ(counts.refused, 1);
  EXPECT_EQ(counts.scored, 1);
  EXPECT_NEAR(scores.total.all.mean.value_or(-9.0), 0.1, 1e-12);
}

TEST(CommScores, WhatIsRefusedIsCountedBesideTheFigures) {
  // Of x one row of two is refused, of y all are; both are small messages.
  const CollectiveScores scores = collectives_of(
      {collective("x", 1_B), collective("x", 1_B), collective("y", 1_B)}, {11.0, -1.0, -1.0});
  const ErrorScore& small = scores.total.by_size[0];
  EXPECT_EQ(small.rows, 1);
  EXPECT_EQ(small.refused_rows, 2);
  EXPECT_EQ(small.systems, 1);
  EXPECT_EQ(small.refused_systems, 1);
  EXPECT_NEAR(small.macro.value_or(-9.0), 0.1, 1e-12);
  ASSERT_EQ(scores.systems.size(), 2U);
  EXPECT_EQ(scores.systems[1].name, "y");
  EXPECT_FALSE(scores.systems[1].score.mean);
}

TEST(CommScores, NothingPredictedHasCountsAndNoFigures) {
  const CollectiveScores scores = collectives_of({collective("x", 1_B)}, {-1.0});
  EXPECT_FALSE(scores.total.all.mean);
  ASSERT_EQ(scores.classes.size(), 1U);
  EXPECT_EQ(scores.classes[0].all.refused_rows, 1);
}

TEST(CommScores, ABandwidthThatIsTooHighIsATimeThatIsTooShort) {
  std::vector<Row> rows{collective("x", 1_B)};
  rows[0].quantity = "busbw_GBps";
  const CollectiveScores scores = collectives_of(rows, {12.0});
  EXPECT_NEAR(scores.total.all.mean.value_or(-9.0), 0.2, 1e-12);
  EXPECT_NEAR(scores.total.all.bias.value_or(-9.0), -0.2, 1e-12);
}

TEST(CommScores, ClassesAndOperationsStandInTheirOrder) {
  std::vector<Row> rows{collective("x", 1_B), collective("x", 1_B), collective("x", 1_GiB)};
  std::get<CollectiveSubject>(rows[0].subject).links.scale_up = describe::ScaleUp::kPcie;
  std::get<CollectiveSubject>(rows[0].subject).op = CollectiveOp::kAllToAll;
  const CollectiveScores scores = collectives_of(rows, {11.0, 12.0, 13.0});
  const std::vector<SizedScore>& classes = scores.classes;
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_EQ(classes[0].name, "one NVLink domain");
  EXPECT_EQ(classes[0].by_size[0].rows, 1);
  EXPECT_NEAR(classes[0].all.mean.value_or(-9.0), 0.25, 1e-12);
  EXPECT_EQ(classes[1].name, "PCIe, one node");
  const std::vector<SizedScore>& operations = scores.operations;
  ASSERT_EQ(operations.size(), 2U);  // an alias of the all-to-all is no second line
  EXPECT_EQ(operations[0].name, "all_reduce");
  EXPECT_EQ(operations[1].name, "alltoall");
}

TEST(CommScores, TheEightMostFrequentReasonsAreKept) {
  std::vector<Row> rows;
  for (int i = 0; i < 10; ++i) {
    rows.push_back(collective("x", 1_B));
    rows.back().refusal = "reason " + std::to_string(i);
  }
  rows.push_back(rows[9]);
  const CollectiveScores scores = collectives_of(rows, {});
  ASSERT_EQ(scores.counts.reasons.size(), 8U);
  EXPECT_EQ(scores.counts.reasons[0].first, "reason 9");
  EXPECT_EQ(scores.counts.reasons[0].second, 2);
  EXPECT_EQ(scores.counts.reasons[1].first, "reason 0");
}

TEST(CommScores, ExpertsAreByLibraryModeAndNodes) {
  const CommScores both = comm_scores_of(
      {expert("DeepEP", "normal", 16, "H800"), expert("DeepEP", "low_latency", 2, "H800"),
       expert("UCCL-EP", "normal", 1, "H200")},
      {11.0, 11.0, 14.0});
  EXPECT_FALSE(both.collectives);
  EXPECT_TRUE(both.experts);
  const ExpertScores scores = both.experts.value_or(ExpertScores{});
  EXPECT_NEAR(scores.total.macro.value_or(-9.0), 0.25, 1e-12);  // (0.1 + 0.4) / 2
  EXPECT_NEAR(scores.total.mean.value_or(-9.0), 0.2, 1e-12);
  ASSERT_EQ(scores.libraries.size(), 2U);
  EXPECT_EQ(scores.libraries[0].score.rows, 2);
  ASSERT_EQ(scores.modes.size(), 2U);
  EXPECT_EQ(scores.modes[0].name, "low_latency");
  ASSERT_EQ(scores.nodes.size(), 3U);
  EXPECT_EQ(scores.nodes[0].name, "1 node");
  EXPECT_EQ(scores.nodes[2].name, "16 nodes");
}

TEST(CommScores, TheRealTablesHaveAClassForNearlyEveryRow) {
  const std::filesystem::path file = shared_folder() / "truth" / "comm" / "collectives.csv";
  if (!std::filesystem::exists(file)) {
    GTEST_SKIP() << "no measured tables beside the sources: nothing read";
  }
  const auto rows = read_table(file, describe::DataStore());
  ASSERT_TRUE(rows);
  std::vector<double> values;
  for (const Row& row : *rows) {
    if (!row.refusal) {
      values.push_back(row.measured);
    }
  }
  const CollectiveScores found = collectives_of(*rows, values);
  EXPECT_EQ(found.counts.rows, 8351);
  EXPECT_EQ(found.counts.unhealthy, 78);  // 58 NOISY and 20 DEGRADED
  EXPECT_EQ(found.counts.scored, found.total.all.rows);
  EXPECT_EQ(found.counts.rows, found.counts.unhealthy + found.counts.refused +
                                   found.counts.untrusted + found.counts.scored);
  EXPECT_NEAR(found.total.all.macro.value_or(-9.0), 0.0, 1e-12);
  EXPECT_EQ(found.systems.size(),
            static_cast<std::size_t>(found.total.all.systems + found.total.all.refused_systems));
  EXPECT_LT(found.classes.back().name == "links not stated" ? found.classes.back().all.rows : 0,
            100);
}

}  // namespace
}  // namespace sextant::measured
