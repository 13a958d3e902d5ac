#include "measured/validate.h"

#include <limits>
#include <map>

#include <gtest/gtest.h>

namespace sextant::measured {
namespace {

Row row(std::string id, double value, std::string group = "") {
  Row out;
  out.id = std::move(id);
  out.source = "runs";
  out.quantity = "step_time_s";
  out.measured = value;
  out.layout_group = std::move(group);
  return out;
}

// Answers by id; refuses what it does not know.
Predictor table(std::map<std::string, Prediction> answers) {
  return [answers = std::move(answers)](const Row& asked) -> Answer {
    const auto found = answers.find(asked.id);
    if (found == answers.end()) {
      return Refusal{"unknown"};
    }
    return found->second;
  };
}

TEST(Validate, NoRowsNoSummary) {
  const ValidationReport report = validate({}, refuse_all);
  EXPECT_TRUE(report.rows.empty());
  EXPECT_TRUE(report.summary.empty());
}

TEST(Validate, WithoutAModelEveryRowIsRefused) {
  const ValidationReport report = validate({row("a", 1.0), row("b", 2.0)}, refuse_all);
  ASSERT_EQ(report.rows.size(), 2U);
  EXPECT_EQ(report.rows[0].reason, "not modelled yet");
  EXPECT_FALSE(report.rows[0].error);
  ASSERT_EQ(report.summary.size(), 1U);
  EXPECT_EQ(report.summary[0].refused, 2);
  EXPECT_FALSE(report.summary[0].mape);
}

TEST(Validate, ErrorsByHand) {
  // Errors +0.1, −0.2, +0.5: mape 0.8/3, median 0.2, bias 0.4/3; 0.9-quantile 0.2 + 0.8 · 0.3.
  const ValidationReport report =
      validate({row("a", 10.0), row("b", 10.0), row("c", 2.0), row("d", 1.0)},
               table({{"a", {11.0, std::pair(9.0, 12.0), {}}},
                      {"b", {8.0, std::pair(7.0, 9.0), {}}},
                      {"c", {3.0, std::nullopt, {{"x", "1", {}, {}}}}}}));
  const ValidationSummary& summary = report.summary[0];
  EXPECT_EQ(summary.rows, 4);
  EXPECT_EQ(summary.predicted, 3);
  EXPECT_EQ(summary.refused, 1);
  EXPECT_NEAR(summary.mape.value_or(-9.0), 0.8 / 3.0, 1e-12);
  EXPECT_NEAR(summary.median_ape.value_or(-9.0), 0.2, 1e-12);
  EXPECT_NEAR(summary.p90_ape.value_or(-9.0), 0.44, 1e-12);
  EXPECT_NEAR(summary.bias.value_or(-9.0), 0.4 / 3.0, 1e-12);
  EXPECT_NEAR(summary.interval_coverage.value_or(-9.0), 0.5,
              1e-12);  // 10 is in 9 … 12 and not in 7 … 9
  EXPECT_EQ(report.rows[2].assumed, (describe::Assumptions{{"x", "1", {}, {}}}));
}

TEST(Validate, TheReadersRefusalIsNotAsked) {
  std::vector<Row> rows{row("a", 1.0)};
  rows[0].refusal = "model shape not stated";
  bool asked = false;
  const ValidationReport report = validate(rows, [&asked](const Row&) -> Answer {
    asked = true;
    return Prediction{};
  });
  EXPECT_FALSE(asked);
  EXPECT_EQ(report.rows[0].reason, "model shape not stated");
}

TEST(Validate, TrustCIsReportedAndNotScored) {
  std::vector<Row> rows{row("a", 1.0), row("b", 1.0)};
  rows[1].trust = Trust::kC;
  const ValidationReport report =
      validate(rows, table({{"a", {1.1, {}, {}}}, {"b", {9.0, {}, {}}}}));
  EXPECT_EQ(report.summary[0].predicted, 2);
  EXPECT_EQ(report.summary[0].scored, 1);
  EXPECT_NEAR(report.summary[0].mape.value_or(-9.0), 0.1, 1e-12);
  EXPECT_NEAR(report.rows[1].error.value_or(-9.0), 8.0, 1e-12);
}

TEST(Validate, RankingIsOverGroupsOfFourAndMore) {
  // Group g: measured 1 2 3 4, predicted 1 2 4 3: five of six pairs agree, tau = 4/6. The favourite
  // is the best: regret 0. Group h of three rows is not ranked.
  const std::vector<Row> rows{row("a", 1.0, "g"), row("b", 2.0, "g"), row("c", 3.0, "g"),
                              row("d", 4.0, "g"), row("e", 1.0, "h"), row("f", 2.0, "h"),
                              row("i", 3.0, "h")};
  const ValidationReport report = validate(rows, table({{"a", {1.0, {}, {}}},
                                                        {"b", {2.0, {}, {}}},
                                                        {"c", {4.0, {}, {}}},
                                                        {"d", {3.0, {}, {}}},
                                                        {"e", {3.0, {}, {}}},
                                                        {"f", {2.0, {}, {}}},
                                                        {"i", {1.0, {}, {}}}}));
  EXPECT_EQ(report.summary[0].groups, 1);
  EXPECT_NEAR(report.summary[0].kendall.value_or(-9.0), 4.0 / 6.0, 1e-12);
  EXPECT_NEAR(report.summary[0].top1_regret.value_or(-9.0), 0.0, 1e-12);
}

TEST(Validate, RegretIsWhatTheFavouriteCosts) {
  const std::vector<Row> rows{row("a", 2.0, "g"), row("b", 3.0, "g"), row("c", 4.0, "g"),
                              row("d", 5.0, "g")};
  const ValidationReport report = validate(rows, table({{"a", {9.0, {}, {}}},
                                                        {"b", {1.0, {}, {}}},
                                                        {"c", {9.0, {}, {}}},
                                                        {"d", {9.0, {}, {}}}}));
  EXPECT_NEAR(report.summary[0].top1_regret.value_or(-9.0), 0.5, 1e-12);  // 3 / 2 − 1
}

TEST(Validate, AMeasurementOfZeroHasAnAbsoluteError) {
  std::vector<Row> rows{row("a", 0.0)};
  rows[0].quantity = "fits";
  const ValidationReport report = validate(rows, table({{"a", {1.0, {}, {}}}}));
  EXPECT_EQ(report.rows[0].error, 1.0);
}

TEST(Validate, APredictionThatIsNoNumberIsARefusal) {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const ValidationReport report = validate({row("a", 1.0)}, table({{"a", {nothing, {}, {}}}}));
  EXPECT_FALSE(report.rows[0].predicted);
  EXPECT_FALSE(report.summary[0].mape);
}

TEST(Validate, SummariesAreSortedBySourceAndQuantity) {
  std::vector<Row> rows{row("a", 1.0), row("b", 1.0), row("c", 1.0)};
  rows[0].source = "z";
  rows[2].quantity = "mem_gib";
  const ValidationReport report = validate(rows, refuse_all);
  ASSERT_EQ(report.summary.size(), 3U);
  EXPECT_EQ(report.summary[0].quantity, "mem_gib");
  EXPECT_EQ(report.summary[2].source, "z");
}

}  // namespace
}  // namespace sextant::measured
