// Layouts of a real cluster of CPU processes: is the one predicted to be fastest near the best?
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/statistics.h"
#include "truth_errors.h"
#include "validate/predict_cluster.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

fs::path steps_table() {
  return tests::truth_dir() / "cpu_cluster" / "steps.csv";
}

class ClusterTruth : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_regular_file(steps_table())) {
      GTEST_SKIP() << "no measured tables beside the sources: nothing read";
    }
  }
};

// The table's rows answered by constants of the micro-benchmarks beside it.
measured::ValidationReport report_of(const std::vector<measured::Row>& rows,
                                     const describe::DataStore& data) {
  validate::ClusterPredictor predictor(data);
  return measured::validate(rows,
                            [&predictor](const measured::Row& row) { return predictor(row); });
}

// Required: within 10 % of the measured best, for each model.
TEST_F(ClusterTruth, LayoutPredictedToBeFastestIsNearTheBest) {
  const describe::DataStore data;
  const auto rows = measured::read_table(steps_table(), data);
  ASSERT_TRUE(rows);
  std::map<std::string, std::vector<measured::Row>> models;
  for (const measured::Row& row : *rows) {
    models[std::get<measured::ClusterStepSubject>(row.subject).job->model.name].push_back(row);
  }
  ASSERT_EQ(models.size(), 2U);
  for (const auto& [name, of_model] : models) {
    const measured::ValidationReport report = report_of(of_model, data);
    ASSERT_EQ(report.summary.size(), 1U);
    const measured::ValidationSummary& summary = report.summary.front();
    EXPECT_EQ(summary.refused, 0) << name;
    EXPECT_LE(summary.top1_regret.value_or(1.0), 0.10) << name;
    EXPECT_GE(summary.kendall.value_or(0.0), 0.4) << name;
  }
}

TEST_F(ClusterTruth, StepsAreWithinAThirdOnAverage) {
  const auto errors = tests::errors_of<validate::ClusterPredictor>(
      steps_table(), [](const measured::Row&) { return true; });
  EXPECT_EQ(errors.size(), 50U);
  EXPECT_LE(mean(errors).value_or(1.0), 0.30);
}

TEST_F(ClusterTruth, ConstantsOfTheMicroBenchmarks) {
  const describe::DataStore data;
  const auto bench = validate::cluster_bench(steps_table().parent_path() / "bench.csv", 2, data);
  ASSERT_TRUE(bench);
  EXPECT_EQ(bench->products.size(), 11U);
  EXPECT_EQ(bench->all_reduces.size(), 18U);
  EXPECT_EQ(bench->messages.size(), 5U);
  const auto found = cost::fit_cluster(*bench);
  ASSERT_TRUE(found);
  // 256 × 512 × 512 runs at 222 GFLOP/s, 2048 × 4096 × 1024 at 155.
  EXPECT_GT(found->product_rate, FlopsPerSecond(155e9));
  EXPECT_LT(found->product_rate, FlopsPerSecond(222e9));
  EXPECT_LT(found->reduce_error, 0.25);
}

TEST_F(ClusterTruth, TableOfStepsIsNoTableOfMicroBenchmarks) {
  const describe::DataStore data;
  EXPECT_FALSE(validate::cluster_bench(steps_table(), 2, data));
}

}  // namespace
}  // namespace sextant
