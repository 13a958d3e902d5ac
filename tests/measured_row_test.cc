// A run from a log, written as a line of a runs table, is read back as the same job.
#include "emit/measured_row.h"

#include <tuple>
#include <variant>

#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"
#include "describe/data_store.h"
#include "describe/model/load_model.h"
#include "measured/table.h"

namespace sextant {
namespace {

using describe::Job;
using describe::Layout;

Job logged_job(const std::string& model, const std::string& cluster, const Layout& layout) {
  const describe::DataStore data;
  Job job;
  job.model = *describe::load_model(model, data);
  job.cluster = *describe::load_cluster(cluster, data);
  job.layout = layout;
  job.sequences.length = 4096;
  job.global_batch = 128;
  return job;
}

emit::MeasuredRun measurement() {
  emit::MeasuredRun run;
  run.step = 3.25_s;
  run.max_reserved = 61.5_GiB;
  run.tflops_per_device = 455.0;
  run.notes = {"counted: 10, \"all\" of them"};
  return run;
}

std::vector<measured::Row> rows_read_back(const Job& job) {
  const std::string table = emit::row_header() + emit::measured_row(job, measurement(), "MINE-1");
  auto rows = measured::parse_table(table, "mine.csv", describe::DataStore{});
  EXPECT_TRUE(rows) << (rows ? "" : to_text(rows.error())) << "\n" << table;
  return rows.value_or(std::vector<measured::Row>{});
}

void expect_same_job(const Job& job) {
  const std::vector<measured::Row> rows = rows_read_back(job);
  ASSERT_EQ(rows.size(), 2U);  // the step and the memory
  EXPECT_EQ(rows[0].id, "MINE-1");
  EXPECT_EQ(rows[0].quantity, "step_time_s");
  EXPECT_DOUBLE_EQ(rows[0].measured, 3.25);
  EXPECT_EQ(rows[1].quantity, "mem_gib");
  EXPECT_DOUBLE_EQ(rows[1].measured, 61.5);
  EXPECT_FALSE(rows[0].refusal) << rows[0].refusal.value_or("");
  const auto& subject = std::get<measured::RunSubject>(rows[0].subject);
  EXPECT_EQ(subject.memory, measured::MemoryKind::kReserved);
  ASSERT_TRUE(subject.job);
  const Job& read = *subject.job;
  EXPECT_EQ(read.model.name, job.model.name);
  EXPECT_EQ(read.model.layer_count(), job.model.layer_count());
  EXPECT_EQ(read.cluster.devices, job.cluster.devices);
  EXPECT_EQ(read.cluster.device.id, job.cluster.device.id);
  EXPECT_EQ(read.cluster.system.domain_size.value, job.cluster.system.domain_size.value);
  EXPECT_EQ(read.framework, job.framework);
  EXPECT_EQ(read.sequences.length, job.sequences.length);
  EXPECT_EQ(read.global_batch, job.global_batch);
  const Layout& a = read.layout;
  const Layout& b = job.layout;
  EXPECT_EQ(std::tuple(a.tp, a.sp, a.cp, a.pp, a.vpp, read.dp(), a.ep, a.etp, a.mbs),
            std::tuple(b.tp, b.sp, b.cp, b.pp, b.vpp, job.dp(), b.ep, b.etp, b.mbs));
  EXPECT_EQ(a.zero, b.zero);
  EXPECT_EQ(a.schedule, b.schedule);
  EXPECT_EQ(a.precision, b.precision);
  EXPECT_EQ(a.recompute.granularity, b.recompute.granularity);
  for (const auto overlap : {describe::Overlap::kGradReduce, describe::Overlap::kParamGather,
                             describe::Overlap::kTensorParallel}) {
    EXPECT_EQ(a.overlaps(overlap), b.overlaps(overlap)) << static_cast<int>(overlap);
  }
}

TEST(MeasuredRow, OfADenseJobIsReadBack) {
  Layout layout;
  layout.tp = 2;
  layout.sp = true;
  layout.pp = 4;
  layout.dp = 8;
  layout.zero = describe::Zero::kOptimizer;
  layout.recompute.granularity = describe::Recompute::kFull;
  layout.overlap = {describe::Overlap::kGradReduce, describe::Overlap::kParamGather};
  expect_same_job(logged_job("llama-3-8b", "64xh100-sxm", layout));
}

TEST(MeasuredRow, OfAnInterleavedPipelineIsReadBack) {
  Layout layout;
  layout.tp = 4;
  layout.sp = true;
  layout.pp = 4;
  layout.vpp = 2;
  layout.schedule = describe::Schedule::kInterleaved1f1b;
  layout.dp = 4;
  layout.mbs = 2;
  layout.precision = describe::Precision::kFp8;
  layout.zero = describe::Zero::kOptimizer;
  expect_same_job(logged_job("llama-3-8b", "64xh100-sxm", layout));
}

TEST(MeasuredRow, OfAJobWithExpertsIsReadBack) {
  Layout layout;
  layout.pp = 2;
  layout.ep = 8;
  layout.dp = 32;
  layout.zero = describe::Zero::kOptimizer;
  expect_same_job(logged_job("mixtral-8x7b", "64xh100-sxm", layout));
}

}  // namespace
}  // namespace sextant
