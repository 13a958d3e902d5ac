#include "diagnose/precedence.h"

#include <vector>

#include <gtest/gtest.h>

namespace sextant::diagnose {
namespace {

Finding of_rule(const char* rule, Seconds per_step, std::vector<RankId> ranks = {}) {
  Finding finding;
  finding.rule = rule;
  finding.per_step = per_step;
  finding.ranks = std::move(ranks);
  return finding;
}

std::optional<std::string> why(std::vector<Finding> findings) {
  explain(findings);
  return findings[0].explained_by;
}

TEST(Precedence, TheShareOfTheWorkExplainsWhoComesLate) {
  EXPECT_EQ(why({of_rule("slow-worker", 3_ms, {{7}}), of_rule("expert-imbalance", 2_ms, {{7}})}),
            "expert-imbalance");
  // Another rank's experts explain nothing of this one.
  EXPECT_EQ(why({of_rule("slow-worker", 3_ms, {{7}}), of_rule("expert-imbalance", 2_ms, {{6}})}),
            std::nullopt);
}

TEST(Precedence, AHostThatWaitsWhereBatchesAreFetchedIsLateThroughData) {
  std::vector<Finding> findings{of_rule("late-rank", 5_ms, {{3}}),
                                of_rule("input-bound", 4_ms, {{3}})};
  findings[0].status = Status::kVerified;
  explain(findings);
  EXPECT_EQ(findings[0].rule, "data-late-rank");
  EXPECT_EQ(findings[0].status, Status::kInferred);  // no better known than that
  EXPECT_EQ(findings[1].explained_by, "data-late-rank");
}

TEST(Precedence, AnotherRanksDataMakesThisOneNotLate) {
  std::vector<Finding> findings{of_rule("late-rank", 5_ms, {{3}}),
                                of_rule("input-bound", 4_ms, {{2}})};
  explain(findings);
  EXPECT_EQ(findings[0].rule, "late-rank");
}

TEST(Precedence, WhatExplainsStandsForTheLargerCost) {
  std::vector<Finding> findings{of_rule("late-rank", 5_ms, {{1}}), of_rule("python-gc", 3_ms)};
  explain(findings);
  EXPECT_EQ(findings[1].per_step, 5_ms);
}

TEST(Precedence, ASmallCauseExplainsNoLargeOne) {
  EXPECT_EQ(why({of_rule("late-rank", 5_ms, {{1}}), of_rule("host-sync", 2_ms)}), std::nullopt);
}

// One rank's loader makes that rank late; all loaders make a job wait for input.
TEST(Precedence, OneRanksTroubleIsToldFromEverybodys) {
  EXPECT_EQ(why({of_rule("input-bound", 3_ms, {{2}}), of_rule("data-late-rank", 3_ms, {{2}})}),
            "data-late-rank");
  EXPECT_EQ(why({of_rule("input-bound", 3_ms), of_rule("data-late-rank", 2_ms, {{2}})}),
            std::nullopt);
  EXPECT_EQ(why({of_rule("data-late-rank", 2_ms, {{2}}), of_rule("input-bound", 3_ms)}),
            "input-bound");
}

// Its thread stands still and the others wait: one trouble of one rank, said once.
TEST(Precedence, ALateRankExplainsWhatItsHostDoesMeanwhile) {
  EXPECT_EQ(
      why({of_rule("cpu-contention", 3_ms, {{0}, {6}}), of_rule("late-rank", 5_ms, {{0}, {6}})}),
      "late-rank");
  EXPECT_EQ(why({of_rule("cpu-contention", 3_ms, {{3}}), of_rule("late-rank", 5_ms, {{0}, {6}})}),
            std::nullopt);
  EXPECT_EQ(why({of_rule("cpu-contention", 3_ms), of_rule("late-rank", 5_ms, {{0}, {6}})}),
            std::nullopt);
}

TEST(Precedence, NoTwoFindingsExplainEachOther) {
  std::vector<Finding> findings{of_rule("late-rank", 3_ms, {{1}}),
                                of_rule("launch-bound", 3_ms, {{1}})};
  explain(findings);
  EXPECT_NE(findings[0].explained_by.has_value(), findings[1].explained_by.has_value());
}

}  // namespace
}  // namespace sextant::diagnose
