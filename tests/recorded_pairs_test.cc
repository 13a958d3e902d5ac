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
constexpr int kFewestKinds = 12;  // of a single GPU, really recorded

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

// A run without a fault shows its loop's own wait for the loss, and what is confirmed.
void expect_nothing_else(const std::vector<DiagnosedPlain>& runs) {
  for (const DiagnosedPlain& run : runs) {
    for (const diagnose::Finding& finding : run.diagnosis.findings) {
      const bool is_known =
          finding.rule == "host-sync" || finding.explained_by ||
          run.plain->confirmed.starts_with(finding.rule + ":") ||
          (run.plain->name == "vocabulary" && finding.rule == "vocabulary-logits");
      EXPECT_TRUE(is_known || finding.per_step <= kQuietShare * run.diagnosis.step)
          << run.plain->name << ": " << finding.rule << ": " << finding.cause;
    }
  }
}

TEST(RecordedPairs, ThePageIsWhatDiagnosisSays) {
  const std::vector<DiagnosedPair> pairs = all_pairs();
  const std::vector<DiagnosedPlain> plain = all_plain();
  const std::string text = real_page(pairs, plain);
  const PairCounts counts = counts_of(pairs);
  EXPECT_GE(counts.right, kRealRightFirst * counts.asked) << text;
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
