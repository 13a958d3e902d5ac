#include "explain/validation_groups.h"

#include <gtest/gtest.h>

namespace sextant::explain {
namespace {

using measured::Row;
using measured::TableKind;

Row row(TableKind table, const std::string& quantity, const std::string& source = "t") {
  Row out;
  out.source = source;
  out.table = table;
  out.quantity = quantity;
  out.measured = 10.0;
  return out;
}

Row kernel(const std::string& kind) {
  Row out = row(TableKind::kGpuKernels, "time_us");
  measured::KernelSubject subject;
  subject.kind = kind;
  out.subject = subject;
  return out;
}

Row train_step(const describe::Layout& layout, bool autocast, const std::string& quantity) {
  Row out = row(TableKind::kTrainSteps, quantity);
  describe::Job job;
  job.layout = layout;
  measured::SingleDeviceSubject subject;
  subject.job = std::make_shared<const describe::Job>(job);
  subject.autocast = autocast;
  out.subject = subject;
  return out;
}

// Everything is predicted as 11.
std::vector<ValidationPlot> validation_plots_of(const std::vector<Row>& rows) {
  return validation_plots(rows, measured::validate(rows, [](const Row&) -> measured::Answer {
                            return measured::Prediction{11.0, std::nullopt, {}};
                          }));
}

std::vector<std::string> names_of(const ValidationPlot& plot) {
  std::vector<std::string> names;
  for (const PlotSeries& series : plot.series) {
    names.push_back(series.name);
  }
  return names;
}

TEST(ValidationGroups, OnlyScoredRowsAreDrawn) {
  std::vector<Row> rows{kernel("gemm"), kernel("gemm"), kernel("gemm")};
  rows[1].trust = measured::Trust::kC;
  rows[2].refusal = "not stated";
  const std::vector<ValidationPlot> plots = validation_plots_of(rows);
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_EQ(plots[0].rows(), 1);
  EXPECT_NEAR(plots[0].mean_error(), 0.1, 1e-12);
  EXPECT_TRUE(validation_plots_of({row(TableKind::kMemory, "fits")}).empty());
  EXPECT_TRUE(validation_plots_of({}).empty());
}

TEST(ValidationGroups, KernelsStandInTheRulesOrderThenByName) {
  const std::vector<ValidationPlot> plots = validation_plots_of(
      {kernel("zz"), kernel("pcie"), kernel("attention"), kernel("aa"), kernel("gemm")});
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_EQ(plots[0].name, "kernels");
  EXPECT_EQ(plots[0].unit, "µs");
  EXPECT_EQ(names_of(plots[0]),
            (std::vector<std::string>{"gemm", "attention", "pcie", "aa", "zz"}));
}

TEST(ValidationGroups, TrainStepsAreToldApartByWhatIsSpecialAboutThem) {
  describe::Layout plain;
  describe::Layout compiled;
  compiled.launch = describe::Launch::kCompiled;
  describe::Layout recomputed;
  recomputed.recompute.granularity = describe::Recompute::kFull;
  describe::Layout full;
  full.precision = describe::Precision::kFp32;
  describe::Layout eager;
  eager.attention = describe::AttentionKernel::kEager;
  const std::string step = "step_ms_median";
  const std::vector<ValidationPlot> plots =
      validation_plots_of({train_step(eager, false, step), train_step(full, false, step),
                           train_step(plain, true, step), train_step(recomputed, false, step),
                           train_step(compiled, false, step), train_step(plain, false, step),
                           train_step(plain, false, "opt_ms"), train_step(plain, false, "fwd_ms")});
  ASSERT_EQ(plots.size(), 2U);
  EXPECT_EQ(plots[0].name, "train-phases");
  EXPECT_EQ(names_of(plots[0]), (std::vector<std::string>{"forward", "update"}));
  EXPECT_EQ(plots[1].name, "train-steps");
  EXPECT_EQ(names_of(plots[1]), (std::vector<std::string>{"eager", "compiled", "recomputed",
                                                          "autocast", "fp32", "eager attention"}));
}

TEST(ValidationGroups, RankComputeIsOnePlot) {
  const std::vector<ValidationPlot> plots = validation_plots_of(
      {row(TableKind::kRankCompute, "step_ms"), row(TableKind::kRankCompute, "bwd_ms"),
       row(TableKind::kRankCompute, "fwd_ms")});
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_EQ(plots[0].name, "rank-compute");
  EXPECT_EQ(names_of(plots[0]), (std::vector<std::string>{"forward", "backward", "step"}));
}

TEST(ValidationGroups, MemoryIsByTableAPlotAQuantity) {
  const std::vector<ValidationPlot> plots = validation_plots_of(
      {row(TableKind::kShardedMemory, "peak_gib", "b"), row(TableKind::kMemory, "peak_gib", "a"),
       row(TableKind::kMemory, "reserved_gib", "a"), row(TableKind::kRuns, "mem_gib")});
  ASSERT_EQ(plots.size(), 3U);
  EXPECT_EQ(plots[0].name, "memory");
  EXPECT_EQ(names_of(plots[0]), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(plots[1].name, "memory-reserved");
  EXPECT_EQ(plots[2].name, "runs-memory");
}

TEST(ValidationGroups, CollectivesAreByClassOfSystemAndHealth) {
  std::vector<Row> rows(3, row(TableKind::kCollectives, "time_us"));
  measured::CollectiveSubject subject;
  subject.links.scale_up = describe::ScaleUp::kPcie;
  rows[0].subject = subject;
  subject.healthy = false;
  rows[1].subject = subject;
  subject.healthy = true;
  subject.links.scale_up = describe::ScaleUp::kNvSwitch;
  rows[2].subject = subject;
  const std::vector<ValidationPlot> plots = validation_plots_of(rows);
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_EQ(names_of(plots[0]),
            (std::vector<std::string>{"one NVLink domain", "PCIe, one node", "unhealthy"}));
}

TEST(ValidationGroups, OtherTablesFollowTheirKindAndQuantity) {
  Row gather = row(TableKind::kCollectives, "time_us");
  measured::CollectiveSubject subject;
  subject.op = measured::CollectiveOp::kAllGather;
  gather.subject = subject;
  Row width = gather;
  width.quantity = "busbw_GBps";
  const std::vector<ValidationPlot> plots = validation_plots_of(
      {gather, width, row(TableKind::kRuns, "step_time_s", "bloom"),
       row(TableKind::kRuns, "New_Thing", "bloom"), row(TableKind::kEpAllToAll, "time_us")});
  ASSERT_EQ(plots.size(), 5U);
  EXPECT_EQ(plots[0].name, "collectives");
  EXPECT_EQ(plots[0].title, "Collectives");
  EXPECT_EQ(names_of(plots[0]), (std::vector<std::string>{"links not stated"}));
  EXPECT_EQ(plots[1].name, "collectives-bus-bandwidth");
  EXPECT_EQ(plots[2].name, "ep-all-to-all");
  EXPECT_EQ(plots[2].title, "EP all-to-all");
  EXPECT_EQ(plots[3].name, "runs");
  EXPECT_EQ(names_of(plots[3]), (std::vector<std::string>{"bloom"}));
  EXPECT_EQ(plots[4].name, "runs-new-thing");
  EXPECT_EQ(plots[4].quantity, "New_Thing");
}

}  // namespace
}  // namespace sextant::explain
