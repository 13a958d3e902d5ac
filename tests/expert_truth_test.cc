// Expert dispatches and combines against everything measured, averaged by system.
#include <filesystem>
#include <functional>

#include <gtest/gtest.h>

#include "measured/comm_scores.h"
#include "truth_errors.h"
#include "validate/predict_experts.h"

namespace sextant {
namespace {

using measured::ExpertScores;
using measured::NamedScore;

class ExpertTruth : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto table = tests::truth_dir() / "comm" / "ep_alltoall.csv";
    if (!std::filesystem::is_regular_file(table)) {
      GTEST_SKIP() << "no measured tables beside the sources: nothing read";
    }
    const describe::DataStore data;
    const auto rows = measured::read_table(table, data);
    ASSERT_TRUE(rows) << to_text(rows.error());
    validate::ExpertPredictor predictor(data);
    report = measured::validate(*rows, std::ref(predictor));
    const auto all = measured::comm_scores(*rows, report).experts;
    ASSERT_TRUE(all.has_value());
    scores = all.value_or(ExpertScores());
  }

  static double macro_of(const std::vector<NamedScore>& list, std::string_view name) {
    for (const NamedScore& line : list) {
      if (line.name == name) {
        return line.score.macro.value_or(1.0);
      }
    }
    return 1.0;
  }

  measured::ValidationReport report;
  ExpertScores scores;
};

// Required: 20 %.
TEST_F(ExpertTruth, AveragedBySystem) {
  EXPECT_LE(scores.total.macro.value_or(1.0), 0.08);
  EXPECT_GE(scores.total.systems, 10);
}

// One system is measured at a third of what its like reach (AWS p5en, combine).
TEST_F(ExpertTruth, NoSystemIsFarOff) {
  for (const NamedScore& system : scores.systems) {
    // Systems whose rows are all refused have no score.
    EXPECT_LE(system.score.mean.value_or(0.0), 0.25) << system.name;
  }
}

TEST_F(ExpertTruth, EveryModeAndNumberOfNodes) {
  EXPECT_LE(macro_of(scores.modes, "normal"), 0.10);
  EXPECT_LE(macro_of(scores.modes, "low_latency"), 0.10);
  for (const char* nodes : {"1 node", "2 nodes", "4 nodes", "8 nodes"}) {
    EXPECT_LE(macro_of(scores.nodes, nodes), 0.15) << nodes;
  }
}

// Nine of ten: that is what the spreads are.
TEST_F(ExpertTruth, IntervalsHoldMostMeasurements) {
  for (const measured::ValidationSummary& line : report.summary) {
    EXPECT_GE(line.interval_coverage.value_or(0.0), 0.9) << line.quantity;
  }
}

TEST_F(ExpertTruth, RefusalsSayWhy) {
  std::int64_t refused = 0;
  for (const measured::ValidatedRow& row : report.rows) {
    EXPECT_EQ(row.predicted, row.reason.empty()) << row.id;
    refused += row.predicted ? 0 : 1;
  }
  // Shapes that are not stated: pplx-kernels (34 rows), UCCL-EP on AMD (24).
  EXPECT_LE(refused, 58);
}

// DeepSeek-V3's layer on two nodes of H800, as the libraries' tables write it.
measured::Row v3_row() {
  measured::EpAllToAllSubject subject;
  subject.device = "h800-sxm";
  subject.library = "DeepEP V1";
  subject.mode = "normal";
  subject.nodes = 2;
  subject.ep = 16;
  subject.tokens_per_rank = 4096;
  subject.hidden = 7168;
  subject.topk = 8;
  subject.experts = 256;
  subject.dtype = "fp8";
  subject.links.network_rate = 50_GBps;
  measured::Row row;
  row.table = measured::TableKind::kEpAllToAll;
  row.quantity = "time_us";
  row.subject = subject;
  return row;
}

using Change = std::function<void(measured::Row&, measured::EpAllToAllSubject&)>;

measured::Answer answer_to(const Change& change) {
  const describe::DataStore data;
  measured::Row row = v3_row();
  change(row, std::get<measured::EpAllToAllSubject>(row.subject));
  return validate::ExpertPredictor(data)(row);
}

std::string refusal_of(const Change& change) {
  const measured::Answer answer = answer_to(change);
  const auto* refusal = std::get_if<measured::Refusal>(&answer);
  return refusal == nullptr ? "" : refusal->reason;
}

TEST(ExpertRows, WhatNoTableDeterminesIsRefusedWithTheReason) {
  EXPECT_EQ(refusal_of([](auto&, auto&) {}), "");
  EXPECT_NE(refusal_of([](auto&, auto& s) { s.library = "pplx-kernels bench"; }).find("library"),
            std::string::npos);
  EXPECT_NE(refusal_of([](auto&, auto& s) { s.device = "mi300x"; }).find("not measured on mi300x"),
            std::string::npos);
  EXPECT_NE(refusal_of([](auto&, auto& s) {
              s.library = "DeepEP V2";
              s.mode = "unified";
              s.nodes = 1;
              s.ep = 8;
            }).find("inside one domain"),
            std::string::npos);
  EXPECT_NE(refusal_of([](auto& row, auto& s) {
              row.quantity = "bandwidth_GBps";
              s.bandwidth_kind = "as reported";
            }).find("not defined"),
            std::string::npos);
  EXPECT_NE(refusal_of([](auto&, auto& s) { s.dtype = "int3"; }).find("int3"), std::string::npos);
  EXPECT_NE(refusal_of([](auto&, auto& s) { s.topk = 300; }).find("top-300"), std::string::npos);
}

TEST(ExpertRows, ANetworkRateThatIsNotStatedWidensTheInterval) {
  const auto width = [](const Change& change) {
    const measured::Answer answer = answer_to(change);
    const auto* prediction = std::get_if<measured::Prediction>(&answer);
    if (prediction == nullptr || !prediction->interval) {
      return 0.0;
    }
    return prediction->interval->second / prediction->interval->first;
  };
  const double stated = width([](auto&, auto&) {});
  EXPECT_GT(stated, 1.0);
  EXPECT_GT(width([](auto&, auto& s) { s.links.network_rate.reset(); }), stated);
}

}  // namespace
}  // namespace sextant
