// Times of training steps and of single ranks against everything measured, and the kernels of a
// step against those that a profiler listed.
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/places_testing.h"
#include "base/statistics.h"
#include "base/text.h"
#include "cost/compute/rank_time.h"
#include "truth_errors.h"
#include "validate/predict_steps.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

fs::path h200_dir() {
  return tests::truth_dir() / "h200";
}

fs::path measured_here(std::string_view name) {
  return source_folder() / "data" / "measured" / name;
}

// Mean size of the errors of one quantity of a table; a refusal is a failure.
double step_score(const fs::path& path, std::string_view quantity) {
  const auto errors = tests::errors_of<validate::StepPredictor>(
      path, [quantity](const measured::Row& row) { return row.quantity == quantity; });
  return mean(errors).value_or(1.0);
}

class StepTruth : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_directory(h200_dir())) {
      GTEST_SKIP() << "no measured tables beside the sources: nothing read";
    }
  }
};

// Required: 12 %.
TEST_F(StepTruth, TrainingStepsOnOneH200) {
  const fs::path table = h200_dir() / "train_steps.csv";
  EXPECT_LE(step_score(table, "step_ms_median"), 0.045);
  EXPECT_LE(step_score(table, "fwd_ms"), 0.05);
  EXPECT_LE(step_score(table, "bwd_ms"), 0.055);
  EXPECT_LE(step_score(table, "opt_ms"), 0.09);
}

// Required: 10 %. The tensor-parallel ranks are bound by a host that took up to twice as long for
// one case as for its neighbour.
TEST_F(StepTruth, ComputeOfOneRank) {
  const fs::path table = h200_dir() / "rank_compute.csv";
  EXPECT_LE(step_score(table, "step_ms"), 0.10);
  EXPECT_LE(step_score(table, "fwd_ms"), 0.09);
  EXPECT_LE(step_score(table, "bwd_ms"), 0.13);
}

TEST(MeasuredSteps, TrainingStepsAndRanks) {
  EXPECT_LE(step_score(measured_here("h200_step_times.csv"), "step_ms_median"), 0.04);
  EXPECT_LE(step_score(measured_here("h200_rank_times.csv"), "step_ms"), 0.11);
}

struct Listed {
  double kernels = 0.0;  // clears and copies of the library apart
  double us = 0.0;
};

std::map<std::string, Listed, std::less<>> listed_kernels() {
  std::map<std::string, Listed, std::less<>> found;
  const auto text = read_file(measured_here("h200_step_kernels.csv"), 1_MiB);
  EXPECT_TRUE(text);
  const auto table = CsvTable::parse(text ? *text : std::string(), "h200_step_kernels.csv");
  EXPECT_TRUE(table);
  for (std::size_t i = 0; table && i < table->rows(); ++i) {
    if (table->field(i, "kernel").starts_with("Memset")) {
      continue;
    }
    const std::string key = fmt::format("{} {}", table->field(i, "case"), table->field(i, "phase"));
    Listed& phase = found[key];
    const double count = to_double(table->field(i, "count")).value_or(0.0);
    phase.kernels += count;
    phase.us += count * to_double(table->field(i, "us_median")).value_or(0.0);
  }
  return found;
}

// A case of the listing as a row of train steps.
describe::Job job_of_case(std::string_view name) {
  static const std::map<std::string_view, std::string_view> kShapes{
      {"llama-1.3b", "llama,2,2048,5504,16,16,32000"},
      {"llama3.2-1b", "llama,2,2048,8192,32,8,128256"},
      {"qwen3-4b", "qwen3,2,2560,9728,32,8,151936"},
      {"gpt2-124m", "gpt2,2,768,3072,12,12,50304"}};
  for (const auto& [shape, columns] : kShapes) {
    if (!name.starts_with(shape)) {
      continue;
    }
    const auto parts = split(name.substr(shape.size() + 1), '-');
    const std::string text = fmt::format(
        "name,family,layers,hidden,ffn,heads,kv_heads,vocab,seq,micro_batch,precision,recompute,"
        "compile,attention,optimizer,params,step_ms_median,fwd_ms,bwd_ms,opt_ms\n"
        "x,{},{},{},{},{},{},{},{},,1,1,1,1\n",
        columns, parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6]);
    const describe::DataStore data;
    const auto rows = measured::parse_table(text, "h200_steps.csv", data);
    EXPECT_TRUE(rows) << (rows ? "" : to_text(rows.error()));
    return *std::get<measured::SingleDeviceSubject>(rows->front().subject).job;
  }
  ADD_FAILURE() << name;
  return {};
}

// Kernels and device time of forward and backward of two-layer models, with their ends. Times were
// taken from a device that is not hot: rates are burst rates.
TEST(MeasuredSteps, KernelsAreAsManyAndAsLongAsTheProfilerListed) {
  const auto listed = listed_kernels();
  const describe::DataStore data;
  const auto host = describe::host_facts(data);
  ASSERT_TRUE(host);
  for (const char* name :
       {"llama-1.3b-2048-4-bf16-none-0-sdpa-fused-2", "llama3.2-1b-4096-2-bf16-none-0-sdpa-fused-2",
        "llama-1.3b-2048-4-bf16-none-0-eager-fused-2", "llama-1.3b-2048-4-amp-none-0-sdpa-fused-2",
        "qwen3-4b-2048-2-bf16-none-0-sdpa-fused-2", "gpt2-124m-1024-32-bf16-none-0-sdpa-fused-2",
        "gpt2-124m-1024-32-amp-none-0-sdpa-fused-2"}) {
    const describe::Job job = job_of_case(name);
    auto device = cost::device_model(data, job.cluster.device, describe::AttentionKernel::kCudnn);
    ASSERT_TRUE(device);
    device->duty = {.least = 0.3, .slope = 0.0};
    const cost::RankTime time =
        cost::rank_time(job, job.layout, workload::stages_of(job).front(), workload::shard_of(job),
                        {.device = *device, .host = *host});
    const auto expect = [&](std::string_view phase, const cost::PhaseTime& predicted) {
      const auto found = listed.find(fmt::format("{} {}", name, phase));
      ASSERT_NE(found, listed.end());
      // Positions, masks and labels add a score of kernels of 1 us to every forward.
      constexpr double kEnds = 22.0;
      EXPECT_NEAR(predicted.kernels / found->second.kernels, 1.0,
                  0.12 + kEnds / found->second.kernels)
          << name << " " << phase;
      EXPECT_NEAR(predicted.device / 1_us / found->second.us, 1.0, 0.09) << name << " " << phase;
    };
    expect("fwd", time.forward);
    expect("bwd", time.backward);
  }
}

}  // namespace
}  // namespace sextant
