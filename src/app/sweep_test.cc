#include "describe/layout/sweep.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "app/estimate_command.h"
#include "app/testing.h"
#include "describe/layout/rules.h"

namespace sextant::app {
namespace {

using describe::Job;

JobRequest h200_request(std::string layout, std::string cluster = "1xh200-sxm") {
  return llama_request(std::move(layout), std::move(cluster));
}

Job job(const JobRequest& asked) {
  const auto reading = read_job(asked, megatron_context());
  EXPECT_TRUE(reading && reading->violations.empty());
  return reading ? reading->job : Job{};
}

std::vector<explain::SweepPoint> points(const JobRequest& asked, const char* sweep) {
  const auto reading = read_job(asked, megatron_context());
  EXPECT_TRUE(reading);
  const auto answer = sweep_answer(*reading, sweep, megatron_context());
  EXPECT_TRUE(answer) << sweep;
  return answer ? answer->points : std::vector<explain::SweepPoint>();
}

double use_of(const explain::SweepPoint& point) {
  EXPECT_TRUE(point.answer.has_value()) << point.value;
  return point.answer ? point.answer->compute.use.model : 0.0;
}

TEST(Sweep, AFactorAloneHasValuesThatPeopleTry) {
  for (const auto& [factor, word] : describe::kFactorWords) {
    const auto sweep = describe::parse_sweep(word);
    ASSERT_TRUE(sweep) << word;
    EXPECT_EQ(sweep->factor, factor);
    EXPECT_GE(sweep->values.size(), 4U) << word;
  }
}

TEST(Sweep, ValuesAreTakenInTheirOrder) {
  const auto numbers = describe::parse_sweep("mbs=4, 1,2");
  ASSERT_TRUE(numbers);
  ASSERT_EQ(numbers->values.size(), 3U);
  EXPECT_EQ(to_text(numbers->values[0]), "4");
  EXPECT_EQ(to_text(numbers->values[2]), "2");
  const auto formats = describe::parse_sweep("precision=fp4,bf16");
  ASSERT_TRUE(formats);
  EXPECT_EQ(to_text(formats->values[0]), "nvfp4");
}

TEST(Sweep, WhatCannotBeReadSaysWhatIsAllowed) {
  const auto factor = describe::parse_sweep("layers=1");
  ASSERT_FALSE(factor);
  EXPECT_EQ(factor.error().where, "‹sweep›");
  EXPECT_EQ(factor.error().allowed, "mbs, seq, tp, hidden, precision");
  for (const char* text : {"", "mbs=", "mbs=0", "mbs=1,,2", "tp=two", "seq=1e3", "hidden=-1",
                           "hidden=1000001", "precision=fp9", "mbs=99999999999999999999"}) {
    EXPECT_FALSE(describe::parse_sweep(text)) << text;
  }
  std::string list = "mbs=1";
  for (int i = 0; i < 64; ++i) {
    list += ",1";
  }
  EXPECT_FALSE(describe::parse_sweep(list));
}

TEST(Sweep, ALargerMicrobatchKeepsTheNumberOfMicrobatches) {
  JobRequest asked = h200_request("tp=2", "8xh200-sxm");
  asked.global_batch = "32";
  const Job base = job(asked);
  EXPECT_EQ(base.microbatches(), 8);
  const auto at =
      describe::job_at(base, describe::Factor::kMbs, describe::SweepValue(std::int64_t{4}), false);
  ASSERT_TRUE(at);
  EXPECT_EQ(at->microbatches(), 8);
  EXPECT_EQ(at->global_batch, 4 * 4 * 8);  // dp · mbs · microbatches
  EXPECT_TRUE(describe::check_rules(*at).empty());
}

TEST(Sweep, TensorParallelismTakesItsRanksFromDataParallelism) {
  const Job base = job(h200_request("", "8xh200-sxm"));
  for (const std::int64_t tp : {1, 2, 4, 8}) {
    const auto at = describe::job_at(base, describe::Factor::kTp, describe::SweepValue(tp), false);
    ASSERT_TRUE(at);
    EXPECT_EQ(at->dp(), 8 / tp);
    EXPECT_EQ(at->microbatches(), base.microbatches());
    EXPECT_EQ(at->layout.sp, tp > 1);  // as Megatron's recipes set it
    EXPECT_TRUE(describe::check_rules(*at).empty());
  }
  const auto kept =
      describe::job_at(base, describe::Factor::kTp, describe::SweepValue(std::int64_t{2}), true);
  ASSERT_TRUE(kept);
  EXPECT_FALSE(kept->layout.sp);
}

// The point of a sweep is the job that the user would have asked for.
TEST(Sweep, APointIsTheJobAskedForByItself) {
  const auto by_sweep = describe::job_at(job(h200_request("", "8xh200-sxm")), describe::Factor::kTp,
                                         describe::SweepValue(std::int64_t{4}), false);
  ASSERT_TRUE(by_sweep);
  EXPECT_EQ(by_sweep->layout, job(h200_request("tp=4", "8xh200-sxm")).layout);
  // Two replicas with as many microbatches as eight had.
  EXPECT_EQ(by_sweep->global_batch, job(h200_request("", "8xh200-sxm")).global_batch / 4);
}

TEST(Sweep, DocumentsOfStatedLengthsHaveNoOtherSequence) {
  JobRequest asked = h200_request("");
  asked.sequences = "packed:8192:512*0.5,2048*0.5";
  EXPECT_FALSE(describe::job_at(job(asked), describe::Factor::kSeq,
                                describe::SweepValue(std::int64_t{1024}), false));
}

// More rows fill the device until its power and its kernels' own losses are what is left.
TEST(Sweep, UtilisationRisesWithTheMicrobatchUntilItFlattens) {
  const std::vector<explain::SweepPoint> at = points(h200_request(""), "mbs");
  ASSERT_EQ(at.size(), 6U);
  for (std::size_t i = 1; i < at.size(); ++i) {
    EXPECT_GE(use_of(at[i]), use_of(at[i - 1])) << at[i].value;
  }
  const double first = use_of(at[1]) - use_of(at[0]);
  const double last = use_of(at[5]) - use_of(at[4]);
  EXPECT_GT(first, 0.02);
  EXPECT_LT(last, 0.01);
  EXPECT_LT(last, first / 4.0);
}

TEST(Sweep, WiderModelsUseTheDeviceBetter) {
  const std::vector<explain::SweepPoint> at =
      points(h200_request(""), "hidden=1024,2048,4096,8192");
  for (std::size_t i = 1; i < at.size(); ++i) {
    EXPECT_GT(use_of(at[i]), use_of(at[i - 1])) << at[i].value;
  }
}

// Products of an eighth of the width are slower for their size.
TEST(Sweep, TensorParallelismCostsUtilisation) {
  const std::vector<explain::SweepPoint> at = points(h200_request("", "8xh200-sxm"), "tp");
  ASSERT_EQ(at.size(), 4U);
  EXPECT_LT(use_of(at[3]), use_of(at[0]));
}

// Twice the peak, not twice as fast: attention and streams stay as they are.
TEST(Sweep, Fp8IsMeasuredAgainstItsOwnPeak) {
  const std::vector<explain::SweepPoint> at = points(h200_request("mbs=4"), "precision=bf16,fp8");
  ASSERT_EQ(at.size(), 2U);
  const auto compute = [](const explain::SweepPoint& point) {
    return point.answer ? point.answer->compute : step::ComputeEstimate{};
  };
  const step::ComputeEstimate bf16 = compute(at[0]);
  const step::ComputeEstimate fp8 = compute(at[1]);
  EXPECT_NEAR(fp8.use.peak / bf16.use.peak, 2.0, 1e-3);
  EXPECT_LT(fp8.rank.step, bf16.rank.step);
  EXPECT_LT(fp8.use.model, bf16.use.model);
  EXPECT_NEAR(fp8.use.model, fp8.rank.model_flops / fp8.rank.step / 1978.9_TFLOPps, 1e-12);
}

TEST(Sweep, PointsThatAreNotLegalAreShownWithTheirReasons) {
  const std::vector<explain::SweepPoint> tp = points(h200_request("", "8xh200-sxm"), "tp=2,3,16");
  ASSERT_EQ(tp.size(), 3U);
  EXPECT_TRUE(tp[0].answer.has_value());
  EXPECT_FALSE(tp[1].answer.has_value());
  EXPECT_TRUE(std::any_of(tp[1].reasons.begin(), tp[1].reasons.end(),
                          [](const std::string& why) { return why.starts_with("HEADS-TP: "); }));
  EXPECT_FALSE(tp[2].answer.has_value());
  const std::vector<explain::SweepPoint> format = points(h200_request(""), "precision=nvfp4");
  ASSERT_EQ(format.size(), 1U);
  ASSERT_FALSE(format[0].reasons.empty());
  EXPECT_TRUE(format[0].reasons[0].starts_with("PRECISION-DEVICE: "));
}

TEST(Sweep, SizesBeyondCountingAreReasonsToo) {
  const auto long_ones = points(h200_request("mbs=10"), "seq=1000000000");
  ASSERT_EQ(long_ones.size(), 1U);
  EXPECT_FALSE(long_ones[0].answer.has_value());
  EXPECT_FALSE(long_ones[0].reasons.empty());
}

}  // namespace
}  // namespace sextant::app
