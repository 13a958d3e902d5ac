#include "diagnose/gate.h"

#include <gtest/gtest.h>

namespace sextant::diagnose {
namespace {

Diagnosis diagnosis_with(std::vector<Finding> findings) {
  Diagnosis diagnosis{.step = 10_s,
                      .parts = {5_s, 2_s, 0_s, 3_s},
                      .findings = std::move(findings),
                      .abstentions = {},
                      .notes = {},
                      .ceiling = {}};
  diagnosis.ceiling = total_ceiling(diagnosis.findings, diagnosis.parts);
  return diagnosis;
}

Finding idle_finding(std::string rule, Seconds lost) {
  Finding finding;
  finding.rule = std::move(rule);
  finding.per_step = lost;
  finding.parts = {0_s, 0_s, 0_s, lost};
  return finding;
}

TEST(Gate, NothingAskedIsNeverMet) {
  EXPECT_TRUE(met({}, diagnosis_with({idle_finding("input-bound", 3_s)})).empty());
}

TEST(Gate, ARuleIsMetByItsFindingAlone) {
  const Diagnosis diagnosis = diagnosis_with({idle_finding("input-bound", 1_s)});
  EXPECT_TRUE(met({.rules = {"host-sync"}}, diagnosis).empty());
  EXPECT_EQ(met({.rules = {"host-sync", "input-bound"}}, diagnosis),
            std::vector<std::string>{"input-bound is found"});
}

TEST(Gate, WhatAnotherExplainsMeetsNothing) {
  Finding finding = idle_finding("input-bound", 1_s);
  finding.explained_by = "late-rank";
  const Diagnosis diagnosis = diagnosis_with({finding});
  EXPECT_TRUE(met({.rules = {"input-bound"}, .gain = 0.0}, diagnosis).empty());
}

// 2 of 10 s gone: 10 / 8 − 1 = 25 %.
TEST(Gate, TheGainIsOfTheStepThatIsLeft) {
  const Diagnosis diagnosis = diagnosis_with({idle_finding("input-bound", 2_s)});
  EXPECT_DOUBLE_EQ(total_gain(diagnosis).value_or(0.0), 0.25);
  EXPECT_TRUE(met({.rules = {}, .gain = 0.25}, diagnosis).empty());
  EXPECT_EQ(met({.rules = {}, .gain = 0.2}, diagnosis),
            std::vector<std::string>{"up to 25.0 % could be gained, more than 20 %"});
}

TEST(Gate, AStepThatIsAllLossIsMoreThanAnything) {
  Diagnosis diagnosis = diagnosis_with({});
  diagnosis.ceiling = diagnosis.step;
  EXPECT_FALSE(total_gain(diagnosis));
  EXPECT_EQ(met({.rules = {}, .gain = 9.0}, diagnosis).size(), 1U);
}

}  // namespace
}  // namespace sextant::diagnose
