#include "workload/matrix.h"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "describe/layout/pipeline_split.h"
#include "workload/traffic_testing.h"

namespace sextant::workload {
namespace {

using describe::Axis;
using describe::Job;

using Cell = std::pair<std::int64_t, std::int64_t>;

std::map<Cell, double> cells_of(const CommunicationMatrix& matrix, MatrixBy by) {
  std::map<Cell, double> cells;
  matrix.for_each_row(by, [&](std::int64_t from, std::span<const MatrixEntry> entries) {
    for (const MatrixEntry& entry : entries) {
      cells[{from, entry.to}] += entry.bytes / 1_B;
    }
  });
  return cells;
}

double total_of(const std::map<Cell, double>& cells) {
  double sum = 0.0;
  for (const auto& [cell, bytes] : cells) {
    sum += bytes;
  }
  return sum;
}

TEST(Matrix, ARingSendsToTheNextRankOnly) {
  Job job = traffic_job(llama(1, 1024, 8), 4);
  const auto cells = cells_of(CommunicationMatrix(job), MatrixBy::kRank);
  ASSERT_EQ(cells.size(), 4U);
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    EXPECT_TRUE(cells.contains({rank, (rank + 1) % 4}));
  }
}

TEST(Matrix, AllToAllIsSymmetricUnderUniformRouting) {
  Job job = traffic_job(llama(2, 1024, 8), 8);
  job.model.blocks[0].ffn = describe::MoeFfn{.experts = 16, .topk = 2, .width = 512};
  job.layout.ep = 8;
  std::map<Cell, double> experts;
  CommunicationMatrix(job).for_each_row(
      MatrixBy::kRank, [&](std::int64_t from, std::span<const MatrixEntry> entries) {
        for (const MatrixEntry& entry : entries) {
          if (entry.group == GroupKind::kEp) {
            experts[{from, entry.to}] += entry.bytes / 1_B;
          }
        }
      });
  ASSERT_EQ(experts.size(), 56U);
  for (const auto& [cell, bytes] : experts) {
    EXPECT_DOUBLE_EQ(bytes, experts.at({cell.second, cell.first}));
  }
}

// What goes out along measured routes comes back along their transposes: of the four all-to-alls
// two follow the shares and two return, so the sum is symmetric again.
TEST(Matrix, MeasuredRoutesAndTheirReturnsCancelOut) {
  Job job = traffic_job(llama(2, 1024, 8), 2);
  job.model.blocks[0].ffn = describe::MoeFfn{.experts = 4, .topk = 2, .width = 512};
  job.layout.ep = 2;
  job.global_batch = 2;
  const Routing routing = measured_routing({0.9, 0.1, 0.6, 0.4}, 2);
  EXPECT_DOUBLE_EQ(routing.hottest, 1.5);
  const CommunicationMatrix matrix(job, routing);
  std::vector<MatrixEntry> row;
  double there = 0.0;
  double back = 0.0;
  matrix.row(0, row);
  for (const MatrixEntry& entry : row) {
    there += entry.group == GroupKind::kEp ? entry.bytes / 1_B : 0.0;
  }
  matrix.row(1, row);
  for (const MatrixEntry& entry : row) {
    back += entry.group == GroupKind::kEp ? entry.bytes / 1_B : 0.0;
  }
  EXPECT_NEAR(there, back, 1.0);
}

TEST(Matrix, RailsAndNodesAreSumsOfRanks) {
  Job job = traffic_job(llama(4, 1024, 8), 32);
  job.layout.tp = 4;
  job.layout.pp = 2;
  const CommunicationMatrix matrix(job);
  const auto ranks = cells_of(matrix, MatrixBy::kRank);
  const auto nodes = cells_of(matrix, MatrixBy::kNode);
  const auto rails = cells_of(matrix, MatrixBy::kRail);
  EXPECT_EQ(matrix.size(MatrixBy::kNode), 4);
  EXPECT_EQ(matrix.size(MatrixBy::kRail), 8);
  EXPECT_NEAR(total_of(nodes) / total_of(ranks), 1.0, 1e-12);
  EXPECT_NEAR(total_of(rails) / total_of(ranks), 1.0, 1e-12);
  double inside = 0.0;
  double on_diagonal = 0.0;
  for (const auto& [cell, bytes] : ranks) {
    inside += cell.first / 8 == cell.second / 8 ? bytes : 0.0;
  }
  for (const auto& [cell, bytes] : nodes) {
    on_diagonal += cell.first == cell.second ? bytes : 0.0;
  }
  EXPECT_NEAR(on_diagonal / inside, 1.0, 1e-12);
  double near_bytes = 0.0;
  for (const Reach& reach : matrix.reach()) {
    near_bytes += reach.same_node / 1_B;
  }
  EXPECT_NEAR(near_bytes / inside, 1.0, 1e-12);
}

RC_GTEST_PROP(MatrixLaws, RowsAddUpToWhatARankSends, ()) {
  const Job job = random_job();
  const Shard shard = shard_of(job);
  const double wire = traffic_totals(job, job.layout, shard, stages_of(job)).all().wire / 1_B;
  const CommunicationMatrix matrix(job);
  const auto cells = cells_of(matrix, MatrixBy::kRank);
  RC_ASSERT(near(total_of(cells), wire));
  std::vector<double> received(static_cast<std::size_t>(matrix.ranks()), 0.0);
  std::vector<double> sent(static_cast<std::size_t>(matrix.ranks()), 0.0);
  for (const auto& [cell, bytes] : cells) {
    RC_ASSERT(cell.first != cell.second);
    sent[static_cast<std::size_t>(cell.first)] += bytes;
    received[static_cast<std::size_t>(cell.second)] += bytes;
  }
  if (job.layout.pp == 1) {  // else stages send what they do not receive
    for (std::size_t rank = 0; rank < sent.size(); ++rank) {
      RC_ASSERT(near(sent[rank], received[rank]));
    }
  }
}

RC_GTEST_PROP(MatrixLaws, RenamingRanksKeepsTheTotal, ()) {
  Job job = random_job();
  const double before = total_of(cells_of(CommunicationMatrix(job), MatrixBy::kRank));
  job.layout.order = {Axis::kDp, Axis::kPp, Axis::kEp, Axis::kCp, Axis::kTp};
  RC_ASSERT(near(total_of(cells_of(CommunicationMatrix(job), MatrixBy::kRank)), before));
}

}  // namespace
}  // namespace sextant::workload
