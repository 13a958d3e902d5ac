// Published runs ran: every one whose layout is stated must be legal by the core rules and by its
// framework's. Where one is not, the reason stands below: the rule is younger than the run, or the
// table says less, or more, than the run did.
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "describe/layout/framework_rules.h"
#include "measured/table.h"
#include "truth_errors.h"

namespace sextant {
namespace {

using describe::Severity;
using tests::truth_dir;

// "row rule" → why the row is right all the same.
const std::map<std::string, std::string>& exceptions() {
  static const std::string kHeads =
      "the source states no heads; 108 is 13824 / 128, which tp=8 does not divide";
  static const std::map<std::string, std::string> kRows{
      {"BLM-022 HEADS-TP", kHeads},
      {"BLM-022 KV-HEADS-TP", kHeads},
      {"BLM-023 HEADS-TP", kHeads},
      {"BLM-023 KV-HEADS-TP", kHeads},
      {"BLM-024 HEADS-TP", kHeads},
      {"BLM-024 KV-HEADS-TP", kHeads},
      {"MBR-273 EXPERT-WORLD", "ep=64 with 32 ranks a stage as printed; trust C"},
      {"TTN-043 TORCHTITAN-COMPILE",
       "the source says AsyncTP and not that it compiles, which AsyncTP needs"}};
  return kRows;
}

// Risks and notes are no contradiction; these are the ones known, and how many rows have them.
const std::map<std::string, std::size_t>& remarks() {
  static const std::map<std::string, std::size_t> kRules{
      // Expert groups over several nodes are common; they run, slower.
      {"EP-DOMAIN", 39},
      // Flags listed once for all sizes; those with vpp=1 do not overlap.
      {"MEGATRON-P2P-OVERLAP", 4},
      // NeMo AutoModel's pipelines of 32 stages with 8 and 16 microbatches.
      {"TORCHTITAN-FEW-MICROBATCHES", 2}};
  return kRules;
}

struct Findings {
  std::size_t rows = 0;
  std::map<std::string, std::string> illegal;  // "row rule" → message
  std::map<std::string, std::size_t> remarks;
};

void add(const std::string& id, const describe::Job& job, Findings& findings) {
  for (const auto& list : {describe::check_rules(job), describe::check_framework_rules(job)}) {
    for (const describe::Violation& violation : list) {
      if (violation.severity == Severity::kIllegal) {
        findings.illegal[id + " " + std::string(violation.rule)] = violation.message;
      } else {
        findings.remarks[std::string(violation.rule)] += 1;
      }
    }
  }
}

Findings findings_of(const std::vector<std::filesystem::path>& files) {
  const describe::DataStore data;
  Findings findings;
  for (const auto& file : files) {
    const auto rows = measured::read_table(file, data);
    EXPECT_TRUE(rows) << file;
    std::set<std::string> seen;
    for (const measured::Row& row : rows ? *rows : std::vector<measured::Row>()) {
      const auto* run = std::get_if<measured::RunSubject>(&row.subject);
      if (run != nullptr && run->job && !row.refusal && seen.insert(row.id).second) {
        findings.rows += 1;
        add(row.id, *run->job, findings);
      }
    }
  }
  return findings;
}

TEST(RuleTruth, PublishedRunsAreLegalInTheirFramework) {
  if (!std::filesystem::is_directory(truth_dir())) {
    GTEST_SKIP() << "no measured tables beside the sources: nothing read";
  }
  const std::vector<std::filesystem::path> folder{truth_dir() / "runs"};
  const auto files = measured::expand_tables(folder);
  ASSERT_TRUE(files);
  const Findings findings = findings_of(*files);
  EXPECT_GE(findings.rows, 2200U);
  for (const auto& [what, message] : findings.illegal) {
    EXPECT_TRUE(exceptions().contains(what)) << what << ": " << message;
  }
  for (const auto& [what, reason] : exceptions()) {
    EXPECT_TRUE(findings.illegal.contains(what)) << what << " is legal now; " << reason;
  }
  EXPECT_EQ(findings.remarks, remarks());
}

}  // namespace
}  // namespace sextant
