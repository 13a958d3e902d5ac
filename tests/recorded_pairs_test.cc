// Real faults, recorded on a GPU: what comes first, what is claimed, and what mending them saved.
#include <cstdlib>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/places_testing.h"
#include "diagnose/rule_book.h"
#include "recorded_pairs_page.h"

namespace sextant::tests {
namespace {

// Required of real runs.
constexpr double kRealRightFirst = 0.9;
constexpr double kRealClaimsKept = 0.8;
constexpr double kLeastConfirmed = 0.01;  // of a step, that a mend must save to confirm anything
constexpr int kFewestKinds = 12;          // of a single GPU, really recorded

std::vector<DiagnosedPair> all_pairs() {
  std::vector<DiagnosedPair> pairs;
  for (const RecordedPair& pair : recorded_pairs()) {
    pairs.push_back(diagnosed_pair(pair));
  }
  return pairs;
}

std::vector<DiagnosedPlain> all_plain() {
  std::vector<DiagnosedPlain> runs;
  for (const RecordedPlain& plain : recorded_plain()) {
    runs.push_back({&plain, diagnosis_of_recorded(plain.name, "fixed")});
  }
  return runs;
}

void expect_confirms(const Confirmation& one) {
  if (one.timed.empty()) {
    return;
  }
  const auto with = timed_step(one.timed, "fault");
  const auto without = timed_step(one.timed, "fixed");
  ASSERT_TRUE(with && without) << one.timed;
  EXPECT_GE(with->median - without->median, kLeastConfirmed * with->median) << one.timed;
}

// What is found in a run without a fault is small, or was mended and timed.
void expect_nothing_else(const std::vector<DiagnosedPlain>& runs) {
  for (const DiagnosedPlain& run : runs) {
    for (const diagnose::Finding& finding : run.diagnosis.findings) {
      if (finding.explained_by || finding.per_step <= kQuietShare * run.diagnosis.step) {
        continue;
      }
      const Confirmation* confirmed = run.plain->confirmation_of(finding.rule);
      ASSERT_NE(confirmed, nullptr)
          << run.plain->name << ": " << finding.rule << ": " << finding.cause;
      expect_confirms(*confirmed);
    }
  }
}

TEST(RecordedPairs, ThePageIsWhatDiagnosisSays) {
  const std::vector<DiagnosedPair> pairs = all_pairs();
  const std::vector<DiagnosedPlain> plain = all_plain();
  const std::string text = real_page(pairs, plain);
  const PairCounts counts = counts_of(pairs);
  EXPECT_GE(counts.right, kRealRightFirst * counts.asked) << text;
  EXPECT_GE(counts.kept, kRealClaimsKept * counts.timed) << text;
  expect_nothing_else(plain);
  const std::filesystem::path path = source_folder() / "docs" / "diagnosis_real.md";
  if (std::getenv("SEXTANT_UPDATE_PAGES") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
  }
  const auto page = read_file(path, 1_MiB);
  ASSERT_TRUE(page) << "run this test with SEXTANT_UPDATE_PAGES=1";
  EXPECT_EQ(*page, text) << "run this test with SEXTANT_UPDATE_PAGES=1";
}

TEST(RecordedPairs, KindsAreOfTheBookAndTwelveOfOneGpuAreReal) {
  const auto book = diagnose::RuleBook::load(describe::DataStore());
  ASSERT_TRUE(book);
  std::set<std::string, std::less<>> rules;
  for (const diagnose::Rule& rule : book->rules()) {
    rules.insert(rule.id);
  }
  std::set<std::string_view> recorded;
  for (const RecordedPair& pair : recorded_pairs()) {
    if (!pair.name.starts_with("gloo_") && !pair.name.starts_with("xla_")) {
      recorded.insert(pair.rule);
    }
  }
  int real = 0;
  for (const ListedKind& kind : listed_kinds()) {
    EXPECT_TRUE(rules.contains(kind.rule)) << kind.rule;
    real += kind.is_real && recorded.contains(kind.rule) ? 1 : 0;
  }
  EXPECT_GE(real, kFewestKinds);
}

}  // namespace
}  // namespace sextant::tests
