#include "measured/run_scores.h"

#include <map>

#include <gtest/gtest.h>

#include "measured/run_targets.h"

namespace sextant::measured {
namespace {

describe::StepSpreads spreads() {
  return *describe::StepSpreads::of_classes(
      {{.name = "all", .low = 0.5, .high = 2.0, .rows = 99, .source = "a test"}});
}

Row run(std::string id, std::string source, double measured) {
  describe::Job job;
  job.model.name = "m";
  job.cluster.devices = 8;
  job.cluster.device.id = "h100-sxm";
  job.cluster.system.domain_size.value = 8;
  job.cluster.system.devices_per_node.value = 8;
  job.global_batch = 8;
  Row row;
  row.id = std::move(id);
  row.source = std::move(source);
  row.quantity = "step_time_s";
  row.measured = measured;
  row.subject = RunSubject{.job = std::make_shared<const describe::Job>(std::move(job)),
                           .beyond_layout = {},
                           .framework = {},
                           .flags = {},
                           .recompute = {},
                           .hardware = {},
                           .date = {}};
  return row;
}

RunScores run_scores_of(const std::vector<Row>& rows,
                        const std::map<std::string, Prediction>& known) {
  const ValidationReport report = validate(rows, [&known](const Row& row) -> Answer {
    const auto found = known.find(row.id);
    return found == known.end() ? Answer(Refusal{"too hard"}) : Answer(found->second);
  });
  return run_scores(rows, report, spreads());
}

TEST(RunScores, NothingOfNothing) {
  const RunScores scores = run_scores_of({}, {});
  EXPECT_EQ(scores.all.rows, 0);
  EXPECT_FALSE(mean_kendall(scores));
  EXPECT_FALSE(mean_difference(scores));
  EXPECT_FALSE(mean_top3(scores));
  EXPECT_TRUE(scores.targets.empty());
}

// Errors +0.1 and −0.3; the first interval holds 10, the second does not.
TEST(RunScores, ErrorsAndCoverageByHand) {
  const RunScores scores = run_scores_of(
      {run("a", "bloom", 10.0), run("b", "bloom", 10.0), run("c", "bloom", 10.0)},
      {{"a", {11.0, std::pair(9.0, 12.0), {}}}, {"b", {7.0, std::pair(6.0, 8.0), {}}}});
  ASSERT_EQ(scores.sources.size(), 1U);
  const RunScore& bloom = scores.sources[0];
  EXPECT_EQ(bloom.rows, 2);
  EXPECT_EQ(bloom.refused, 1);
  EXPECT_NEAR(bloom.mean.value_or(9.0), 0.2, 1e-12);
  EXPECT_NEAR(bloom.bias.value_or(9.0), -0.1, 1e-12);
  EXPECT_NEAR(bloom.coverage.value_or(9.0), 0.5, 1e-12);
  ASSERT_EQ(scores.targets.size(), 1U);  // 16 % of bloom
  EXPECT_EQ(scores.targets[0].score.name, "bloom");
  EXPECT_FALSE(scores.targets[0].holds());
  EXPECT_EQ(scores.devices.at(0).name, "h100-sxm");
  EXPECT_EQ(scores.layouts.at(0).name, "dp");
  EXPECT_EQ(scores.classes.at(0).name, "all");
}

TEST(RunScores, ATargetIsMetAtItsLimit) {
  const RunScores scores =
      run_scores_of({run("a", "vtrain_multi", 10.0)}, {{"a", {10.5, std::nullopt, {}}}});
  ASSERT_EQ(scores.targets.size(), 1U);
  EXPECT_TRUE(scores.targets[0].holds());
}

// What the row left open is no fault of the model.
TEST(RunScores, RowsThatSayTooLittleAreNotAsked) {
  std::vector<Row> rows{run("a", "nemo", 1.0), run("b", "nemo", 1.0), run("c", "nemo", 1.0)};
  rows[1].refusal = "layout not stated: tp, pp";
  const RunScores scores = run_scores_of(rows, {{"a", {1.0, std::nullopt, {}}}});
  EXPECT_EQ(scores.stated, 2);
  EXPECT_EQ(scores.stated_predicted, 1);
}

TEST(RunScores, TrustCIsNotScored) {
  std::vector<Row> rows{run("a", "nemo", 1.0)};
  rows[0].trust = Trust::kC;
  EXPECT_EQ(run_scores_of(rows, {{"a", {9.0, std::nullopt, {}}}}).all.rows, 0);
}

// "rank 8" and "rank 16" are one fact; rows of another source don't count as its rows without.
TEST(RunScores, FactsWithAndWithout) {
  const RunScores scores = run_scores_of(
      {run("a", "one", 10.0), run("b", "one", 10.0), run("c", "one", 10.0), run("d", "two", 10.0)},
      {{"a", {11.0, std::nullopt, {{"rank", "8", {}, {}}}}},
       {"b", {13.0, std::nullopt, {{"rank", "16", {}, {}}}}},
       {"c", {15.0, std::nullopt, {}}},
       {"d", {19.0, std::nullopt, {}}}});
  ASSERT_EQ(scores.assumed.size(), 1U);
  EXPECT_EQ(scores.assumed[0].fact, "rank=#");
  EXPECT_EQ(scores.assumed[0].rows, 2);
  EXPECT_NEAR(scores.assumed[0].with.value_or(9.0), 0.2, 1e-12);
  EXPECT_NEAR(scores.assumed[0].without.value_or(9.0), 0.5, 1e-12);
}

// One source ranks perfectly, the other the other way round: the mean of +1 and −1.
TEST(RunScores, RankingCountsSourcesAlike) {
  std::vector<Row> rows;
  std::map<std::string, Prediction> known;
  for (int i = 1; i <= 4; ++i) {
    for (const char* source : {"one", "two"}) {
      rows.push_back(run(source + std::to_string(i), source, i));
      rows.back().layout_group = source;
      known[rows.back().id] = {source == std::string("one") ? i : 5.0 - i, std::nullopt, {}};
    }
  }
  const RunScores scores = run_scores_of(rows, known);
  ASSERT_EQ(scores.rankings.size(), 2U);
  EXPECT_NEAR(mean_kendall(scores).value_or(9.0), 0.0, 1e-12);
  EXPECT_NEAR(mean_regret(scores).value_or(9.0), 1.5, 1e-12);  // 0 and 4 / 1 − 1
  EXPECT_NEAR(mean_top3(scores).value_or(9.0), 0.5, 1e-12);    // first, and last of four
}

}  // namespace
}  // namespace sextant::measured
