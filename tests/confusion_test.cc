// Faults put into predicted runs and written as profiles: the first cause must be the fault, its
// seconds those that taking it away saves, and a run without one must raise no alarm.
#include "confusion.h"

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/places_testing.h"
#include "confusion_page.h"

namespace sextant::tests {
namespace {

using diagnose::Finding;

// Required of made runs.
constexpr double kRightFirst = 0.95;
constexpr double kClaimsKept = 0.8;
constexpr double kNoAlarm = 0.03;

bool is_long() {
  return std::getenv("SEXTANT_LONG") != nullptr;
}

// What holds of any diagnosis: a finding is of a step, not of all ranks' together, and so are all.
void expect_of_one_step(const diagnose::Diagnosis& diagnosis) {
  constexpr double kRounding = 1.0 + 1e-9;
  for (const Finding& finding : diagnosis.findings) {
    EXPECT_LE(finding.per_step, diagnosis.step * kRounding) << finding.rule;
    EXPECT_GE(finding.per_step, Seconds()) << finding.rule;
    Seconds parts;
    for (const Seconds part : finding.parts) {
      parts += part;
    }
    EXPECT_NEAR(parts / finding.per_step, 1.0, 1e-6) << finding.rule;
    EXPECT_LE(finding.evidence.size(), diagnose::kMostEvidence) << finding.rule;
    EXPECT_FALSE(finding.cause.empty()) << finding.rule;
  }
  EXPECT_LE(diagnosis.ceiling, diagnosis.step * kRounding);
}

void expect_quiet(const PlainResult& plain) {
  expect_of_one_step(plain.run.diagnosis);
  for (const Finding& finding : plain.run.diagnosis.findings) {
    if (!finding.explained_by) {
      EXPECT_LE(finding.per_step / plain.run.diagnosis.step, kNoAlarm)
          << name_of(plain.job) << ": " << finding.rule << ": " << finding.cause;
    }
  }
}

void expect_right(const ConfusionResults& results) {
  int asked = 0;
  int right = 0;
  int kept = 0;
  const auto rules = known_rules();
  for (const FaultResult& one : results.faults) {
    expect_of_one_step(one.with.diagnosis);
    if (!rules.contains(rule_of(one.made.fault.kind))) {
      fmt::print("not asked, since the book has no rule {}: {}\n", rule_of(one.made.fault.kind),
                 fault_word(one.made.fault.kind));
      continue;
    }
    asked += 1;
    right += one.is_right() ? 1 : 0;
    kept += one.is_claim_kept() ? 1 : 0;
    if (!one.is_right() || !one.is_claim_kept()) {
      fmt::print("{}\n", to_line(one));
    }
  }
  fmt::print("first the fault {} of {}, its claim kept {}\n", right, asked, kept);
  EXPECT_GE(right, kRightFirst * asked) << right << " of " << asked;
  EXPECT_GE(kept, kClaimsKept * asked) << kept << " of " << asked;
}

TEST(Confusion, TheFirstCauseIsTheFaultAndThePageSaysSo) {
  const ConfusionResults results = confusion_results(1, 1);
  expect_right(results);
  for (const PlainResult& plain : results.plain) {
    expect_quiet(plain);
  }
  const std::filesystem::path path = source_folder() / "docs" / "diagnosis.md";
  if (std::getenv("SEXTANT_UPDATE_PAGES") != nullptr) {
    std::ofstream(path, std::ios::binary) << confusion_page(results);
  }
  const auto page = read_file(path, 1_MiB);
  ASSERT_TRUE(page) << "run this test with SEXTANT_UPDATE_PAGES=1";
  EXPECT_EQ(*page, confusion_page(results)) << "run this test with SEXTANT_UPDATE_PAGES=1";
}

TEST(Confusion, HoldsForOtherPlacesSizesAndClocks) {
  if (!is_long()) {
    GTEST_SKIP() << "SEXTANT_LONG is not set";
  }
  const ConfusionResults results = confusion_results(2, 8);
  expect_right(results);
  for (const PlainResult& plain : results.plain) {
    expect_quiet(plain);
  }
}

// A step's phases take all ranks alike, since they wait in the same all-reduce. Who makes them wait
// is told by when each comes. Source: traceml #252.
TEST(Confusion, ASlowBackwardIsFoundThoughAllRanksTakeAlike) {
  if (!known_rules().contains("slow-worker")) {
    GTEST_SKIP() << "the book has no rule slow-worker";
  }
  const FaultResult slow = fault_result(FaultKind::kSlowBackward, 1);
  ASSERT_TRUE(slow.is_right()) << to_line(slow);
  EXPECT_EQ(slow.expected()->ranks, std::vector<RankId>{{slow.made.fault.rank}});
}

}  // namespace
}  // namespace sextant::tests
