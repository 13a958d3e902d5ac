#include "validate/predict_memory.h"

#include <gtest/gtest.h>

#include "describe/layout/layout_text.h"
#include "describe/model/load_model.h"

namespace sextant::validate {
namespace {

// A run of Llama-3.1-8B in four pipeline stages that printed its memory.
measured::Row printed_memory(const measured::RunSubject& printed) {
  describe::Job job;
  job.model = *describe::load_model("llama-3.1-8b", describe::DataStore());
  job.layout = describe::parse_layout("tp=2,pp=4", job.framework)->layout;
  job.cluster.devices = 64;
  for (auto& peak : job.cluster.device.peaks) {
    peak = describe::Sourced<FlopsPerSecond>{};
  }
  job.sequences.length = 4096;
  job.global_batch = 64;
  job.stated = {"mbs", "recompute"};
  measured::RunSubject subject = printed;
  subject.job = std::make_shared<const describe::Job>(std::move(job));
  measured::Row row;
  row.quantity = "mem_gib";
  row.subject = std::move(subject);
  return row;
}

measured::Prediction predicted(const measured::RunSubject& printed) {
  const describe::DataStore data;
  MemoryPredictor predictor(data);
  const measured::Answer answer = predictor(printed_memory(printed));
  const auto* prediction = std::get_if<measured::Prediction>(&answer);
  EXPECT_NE(prediction, nullptr);
  return prediction == nullptr ? measured::Prediction{} : *prediction;
}

TEST(PredictMemory, TheFullestRankInGibNeedsNoAssumption) {
  EXPECT_TRUE(predicted({}).assumed.empty());
}

// The first of four stages keeps four microbatches, the last one.
TEST(PredictMemory, TheLoggingRankIsTheLastStageAndSaysSo) {
  measured::RunSubject logged;
  logged.memory_of_last_stage = true;
  const measured::Prediction last = predicted(logged);
  EXPECT_LT(last.value, predicted({}).value);
  EXPECT_EQ(
      last.assumed,
      (describe::Assumptions{{"memory", "the last pipeline stage's", "the rank that logs", {}}}));
}

TEST(PredictMemory, DecimalGigabytesAreAReadingToo) {
  measured::RunSubject printed;
  printed.memory_unit = 1_GB;
  const measured::Prediction decimal = predicted(printed);
  EXPECT_DOUBLE_EQ(decimal.value, predicted({}).value * (1_GiB / 1_GB));
  EXPECT_EQ(decimal.assumed, (describe::Assumptions{{"GB", "10^9 bytes", "as printed", {}}}));
}

TEST(PredictMemory, OtherQuantitiesOfARunAreRefused) {
  const describe::DataStore data;
  MemoryPredictor predictor(data);
  measured::Row row = printed_memory({});
  row.quantity = "step_time_s";
  EXPECT_TRUE(std::holds_alternative<measured::Refusal>(predictor(row)));
}

}  // namespace
}  // namespace sextant::validate
