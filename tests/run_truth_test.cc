// Step times of published runs, by source: what the model reaches today, so that no change loses it
// unseen. The bounds are measured figures rounded up, not what is required in the end.
#include <filesystem>
#include <ostream>

#include <gtest/gtest.h>

#include "base/statistics.h"
#include "truth_errors.h"
#include "validate/predict_runs.h"

namespace sextant {
namespace {

using tests::truth_dir;

struct Score {
  std::vector<double> errors;
  std::int64_t refused = 0;
};

Score score_of(const std::string& source, std::size_t every) {
  const describe::DataStore data;
  const auto rows = measured::read_table(truth_dir() / "runs" / (source + ".csv"), data);
  EXPECT_TRUE(rows) << (rows ? "" : to_text(rows.error()));
  validate::RunPredictor predictor(data);
  Score score;
  std::size_t number = 0;
  for (const measured::Row& row : rows ? *rows : std::vector<measured::Row>()) {
    if (number++ % every != 0) {
      continue;
    }
    if (row.quantity != "step_time_s" || row.trust == measured::Trust::kC || row.refusal) {
      continue;
    }
    const measured::Answer answer = predictor(row);
    if (const auto* prediction = std::get_if<measured::Prediction>(&answer)) {
      score.errors.push_back(std::abs(prediction->value / row.measured - 1.0));
    } else {
      ++score.refused;
    }
  }
  return score;
}

struct Bound {
  const char* source;
  double mean;
  std::size_t every = 1;  // of its rows: large tables are sampled
};
void PrintTo(const Bound& bound, std::ostream* out) {
  *out << bound.source;
}

class RunTruth : public ::testing::TestWithParam<Bound> {};

TEST_P(RunTruth, MeanErrorOfASource) {
  if (!std::filesystem::is_directory(truth_dir())) {
    GTEST_SKIP() << "no measured tables beside the sources: nothing read";
  }
  const Score score = score_of(GetParam().source, GetParam().every);
  ASSERT_FALSE(score.errors.empty());
  EXPECT_LE(mean(score.errors).value_or(1.0), GetParam().mean) << score.errors.size() << " rows";
}

INSTANTIATE_TEST_SUITE_P(
    Sources, RunTruth,
    ::testing::Values(Bound{"vtrain_multi", 0.095}, Bound{"vtrain_single", 0.09, 16},
                      Bound{"llm_foundry", 0.07, 4}, Bound{"nvidia_dgxc", 0.075, 4},
                      Bound{"mlperf_pretrain", 0.075}, Bound{"mlperf_lora", 0.14},
                      Bound{"bloom", 0.10}, Bound{"simumax_b200", 0.05},
                      Bound{"megatron_bridge", 0.115}, Bound{"internevo", 0.11},
                      Bound{"vocab_parallel", 0.12}, Bound{"torchtitan", 0.155},
                      Bound{"tpu_maxtext", 0.11}, Bound{"nemo", 0.09}),
    [](const auto& tested) { return std::string(tested.param.source); });

}  // namespace
}  // namespace sextant
