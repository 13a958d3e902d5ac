// The reasoner among measured layouts: is what it proposes first measured faster, and is the
// measured best among its three? What its confidence is worth, and what each of its parts adds.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "agents/testing.h"
#include "app/diagnosed_run.h"
#include "app/trace_reading.h"
#include "base/file.h"
#include "truth_errors.h"
#include "tune_groups.h"
#include "tune_page.h"

namespace sextant {
namespace {

using tests::TuneGroup;
using tests::TuneOutcome;
using tests::TuneStart;

constexpr std::size_t kMostStarts = 15;      // of a source
constexpr std::size_t kMostConfidence = 30;  // of a source
constexpr std::size_t kLargeGroup = 5;

const std::vector<TuneGroup>& all_groups() {
  static const std::vector<TuneGroup> kGroups = [] {
    auto groups =
        tests::tune_groups({"bloom", "internevo", "megatron_bridge", "mlperf_pretrain",
                            "simumax_b200", "torchtitan", "vocab_parallel", "vtrain_multi"},
                           3);
    EXPECT_TRUE(groups) << (groups ? "" : to_text(groups.error()));
    return groups ? *std::move(groups) : std::vector<TuneGroup>();
  }();
  return kGroups;
}

// --- What each part adds ----------------------------------------------------------------------

struct Parts {
  std::string name;
  bool knows = true;  // the knowledge base
  bool plans = true;
};

// One group of each source: the first.
std::vector<const TuneGroup*> one_of_each() {
  std::vector<const TuneGroup*> found;
  std::set<std::string> sources;
  for (const TuneGroup& group : all_groups()) {
    if (sources.insert(group.source).second) {
      found.push_back(&group);
    }
  }
  return found;
}

agents::Report freely_tuned(const TuneGroup& group, const Parts& parts) {
  agents::ToolBench bench{.task = group.task};
  bench.left_out = group.source;
  search::Problem& problem = bench.task.problem;
  problem.job.layout = group.layouts[group.layouts.size() / 2].layout;
  problem.fixed = {
      "cp",      "cp_method", "ep",  "etp",      "dispatcher",      "zero", "zero_group", "order",
      "overlap", "reshard",   "vpp", "schedule", "layers_per_stage"};
  agents::Tools tools = bench.judging();
  if (parts.knows) {
    agents::ToolBench::add_knowledge(tools);
  }
  if (parts.plans) {
    bench.add_planner(tools);
  }
  return agents::tuned(bench.asked(), tools);
}

tests::PartsScore parts_score(const Parts& parts) {
  tests::PartsScore score{.name = parts.name};
  for (const TuneGroup* group : one_of_each()) {
    const agents::Report report = freely_tuned(*group, parts);
    score.jobs += 1;
    const bool is_any = !report.proposals.empty();
    score.accepted += is_any && report.proposals.front().verdict.stands() ? 1 : 0;
    score.gains.push_back(!is_any || !report.proposals.front().verdict.speed
                              ? 0.0
                              : report.proposals.front().verdict.speed->speed - 1.0);
    for (const agents::Judged& one : report.proposals) {
      score.proposals += 1;
      score.cited += std::ranges::any_of(one.proposal.citations,
                                         [](const verify::Citation& citation) {
                                           return citation.kind == verify::Cited::kEntry;
                                         })
                         ? 1
                         : 0;
    }
  }
  return score;
}

// --- A profile alone ---------------------------------------------------------------------------

struct RunFault {
  std::string name;          // below tests/data/recorded
  std::string rule;          // of the diagnosis
  std::string why_not = {};  // it cannot be told from what was recorded
};
// Of the host, the device, the data and the layout; mending each was measured (steps.csv).
const std::array<RunFault, 7>& run_faults() {
  static const std::array<RunFault, 7> kFaults{
      {{"input_bound", "input-bound"},
       {"gc_unseen", "python-gc", "collections of garbage were not recorded"},
       {"python_gc", "python-gc"},
       {"pageable_copy", "pageable-copies"},
       {"math_attention", "eager-attention"},
       {"fp32_no_tf32", "missing-tensor-cores"},
       {"needless_recompute", "needless-recompute"}}};
  return kFaults;
}

explain::DiagnoseAnswer recorded_run(const std::string& name) {
  app::Context context;
  context.settings["framework"].value = "torchtitan";  // whose settings advice names first
  const auto file = source_folder() / "tests" / "data" / "recorded" / (name + ".fault.json.zst");
  auto reading =
      app::read_traces({.traces = {file.string()}, .keeps_collectives = true}, context, {});
  EXPECT_TRUE(reading) << (reading ? "" : to_text(reading.error()));
  if (!reading) {
    return {};
  }
  auto answer = app::diagnosed_run(*reading, {}, context);
  EXPECT_TRUE(answer) << (answer ? "" : to_text(answer.error()));
  return answer ? *std::move(answer) : explain::DiagnoseAnswer();
}

tests::RunScore run_score(const RunFault& fault) {
  const explain::DiagnoseAnswer answer = recorded_run(fault.name);
  agents::JobCase asked;
  asked.run.emplace();
  asked.run->kpis = answer.kpis;
  asked.run->operators = answer.rooflines;
  if (answer.findings) {
    asked.run->diagnosis = &answer.findings->diagnosis;
    asked.run->book = &answer.findings->book;
  }
  const agents::Report report = agents::tuned(asked, {});
  tests::RunScore score{.fault = fault.name, .mended_by = fault.rule, .why_not = fault.why_not};
  if (!report.proposals.empty()) {
    score.proposed = report.proposals.front().proposal.change.mends;
  }
  score.is_among = std::ranges::any_of(report.proposals, [&fault](const agents::Judged& one) {
    return one.proposal.change.mends == fault.rule && one.verdict.stands();
  });
  return score;
}

// --- Measured layouts --------------------------------------------------------------------------

// Of every start that anything is said of; each is tuned once.
class Outcomes {
 public:
  const TuneOutcome& of(const TuneStart& from) {
    const auto [found, is_new] = outcomes_.try_emplace({from.group, from.start});
    if (is_new) {
      found->second = tests::tune_outcome(from);
    }
    return found->second;
  }

 private:
  std::map<std::pair<const TuneGroup*, std::size_t>, TuneOutcome> outcomes_;
};

struct Scores {
  std::map<std::string, tests::TuneScore> sources;
  tests::TuneScore all;
  tests::TuneScore large;  // of groups of five layouts and more
  tests::SourceKinds kinds;
};

Scores measured_scores() {
  Outcomes outcomes;
  Scores scores;
  const std::vector<TuneGroup>& groups = all_groups();
  std::map<const TuneGroup*, std::optional<std::size_t>> rules;
  for (const TuneStart& start : tests::tune_starts(groups, false, kMostStarts)) {
    const TuneOutcome& outcome = outcomes.of(start);
    if (!rules.contains(start.group)) {
      rules[start.group] = tests::rules_choice(*start.group);
    }
    const auto& rule = rules[start.group];
    scores.sources[start.group->source].add(outcome, rule);
    scores.all.add(outcome, rule);
    if (start.group->layouts.size() >= kLargeGroup) {
      scores.large.add(outcome, rule);
    }
  }
  for (const TuneStart& start : tests::tune_starts(groups, true, kMostConfidence)) {
    const TuneOutcome& outcome = outcomes.of(start);
    if (!outcome.kind.empty()) {
      tests::KindScore& kind = scores.kinds[start.group->source][outcome.kind];
      kind.proposed += 1;
      kind.faster += outcome.is_first_faster() ? 1 : 0;
    }
  }
  return scores;
}

// --- The page ----------------------------------------------------------------------------------

bool writes_pages() {
  return std::getenv("SEXTANT_UPDATE_PAGES") != nullptr;  // NOLINT(concurrency-mt-unsafe)
}

// With SEXTANT_UPDATE_PAGES set in the environment the section is written instead.
void expect_section(const tests::PageSection& section) {
  const auto path = source_folder() / "docs" / "tuning.md";
  const auto page = read_text(path, 1_MiB);
  ASSERT_TRUE(page) << to_text(page.error());
  if (writes_pages()) {
    std::ofstream(path) << tests::with_section(*page, section);
    return;
  }
  EXPECT_EQ(tests::section_of(*page, section.heading), section.text)
      << "run this test with SEXTANT_UPDATE_PAGES=1";
}

void expect_confidence(const tests::SourceKinds& kinds) {
  const auto path = source_folder() / "data" / "agents" / "confidence.toml";
  if (writes_pages()) {
    std::ofstream(path) << tests::confidence_text(kinds);
    return;
  }
  const auto text = read_text(path, 1_MiB);
  ASSERT_TRUE(text) << to_text(text.error());
  EXPECT_EQ(*text, tests::confidence_text(kinds)) << "run this test with SEXTANT_UPDATE_PAGES=1";
}

bool has_tables() {
  return std::filesystem::is_directory(tests::truth_dir());
}
constexpr const char* kNoTables = "no measured tables beside the sources: nothing read";

TEST(TuneTruth, FirstProposalsAreFaster) {
  if (!has_tables()) {
    GTEST_SKIP() << kNoTables;
  }
  const Scores scores = measured_scores();
  EXPECT_GE(scores.all.starts, 60);
  EXPECT_GE(scores.sources.size(), 6U);
  for (const auto& [source, score] : scores.sources) {
    EXPECT_LE(score.starts, static_cast<std::int64_t>(kMostStarts)) << source;
  }
  EXPECT_GE(scores.all.faster * 100, scores.all.starts * 85);
  EXPECT_GE(scores.all.fastest * 100, scores.all.starts * 90);
  EXPECT_GT(static_cast<double>(scores.all.faster), scores.all.random_faster);
  EXPECT_GT(scores.all.faster, scores.all.rule_faster);
  // What the judge accepts is what it says: faster.
  EXPECT_GE(scores.all.decided_faster * 100, scores.all.decided * 95);
  expect_section(tests::page_head());
  expect_section(tests::among_section(scores.sources, scores.all, scores.large,
                                      static_cast<std::int64_t>(all_groups().size())));
  expect_section(tests::confidence_section(scores.kinds));
  expect_confidence(scores.kinds);
}

TEST(TuneTruth, EachPartAddsProposals) {
  if (!has_tables()) {
    GTEST_SKIP() << kNoTables;
  }
  const tests::PartsScore all = parts_score({"all"});
  const tests::PartsScore no_knowledge = parts_score({"without the knowledge base", false, true});
  const tests::PartsScore no_planner = parts_score({"without the planner", true, false});
  const tests::PartsScore neither = parts_score({"neither", false, false});
  EXPECT_EQ(neither.proposals, 0);
  EXPECT_EQ(no_knowledge.cited, 0);
  EXPECT_GT(all.cited, 0);
  EXPECT_GE(all.accepted, std::max(no_knowledge.accepted, no_planner.accepted));
  EXPECT_GT(all.proposals, no_planner.proposals);
  expect_section(tests::parts_section({all, no_knowledge, no_planner, neither}));
}

// It needs no tables: the runs are beside the tests.
TEST(TuneTruth, AProfileAloneSaysWhatToMend) {
  std::vector<tests::RunScore> scores;
  for (const RunFault& fault : run_faults()) {
    scores.push_back(run_score(fault));
    EXPECT_EQ(scores.back().is_among, fault.why_not.empty()) << fault.name;
  }
  // What was not recorded is not guessed.
  EXPECT_NE(scores[1].proposed, "python-gc");
  expect_section(tests::runs_section(scores));
}

// --- Sections of a page ------------------------------------------------------------------------

TEST(TunePage, ASectionTakesThePlaceOfItsOwnAndLeavesTheOthers) {
  const std::string page = "# P\n\nHead.\n\n## A\n\none\n\n## B\n\ntwo\n";
  EXPECT_EQ(tests::section_of(page, ""), "# P\n\nHead.\n");
  EXPECT_EQ(tests::section_of(page, "## A"), "## A\n\none\n");
  EXPECT_EQ(tests::section_of(page, "## B"), "## B\n\ntwo\n");
  EXPECT_EQ(tests::section_of(page, "## C"), "");
  EXPECT_EQ(tests::with_section(page, {"## A", "## A\n\nnew\n"}),
            "# P\n\nHead.\n\n## A\n\nnew\n\n## B\n\ntwo\n");
  EXPECT_EQ(tests::with_section(page, {"## C", "## C\n\nlast\n"}), page + "\n## C\n\nlast\n");
  EXPECT_EQ(tests::with_section(page, {"## B", "## B\n\ntwo\n"}), page);
}

}  // namespace
}  // namespace sextant
