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
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agents/testing.h"
#include "app/diagnosed_run.h"
#include "app/trace_reading.h"
#include "base/file.h"
#include "base/statistics.h"
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

std::string parts_row(const Parts& parts) {
  std::int64_t jobs = 0;
  std::int64_t accepted = 0;
  std::int64_t proposals = 0;
  std::int64_t cited = 0;
  std::vector<double> gains;
  for (const TuneGroup* group : one_of_each()) {
    const agents::Report report = freely_tuned(*group, parts);
    jobs += 1;
    const bool stands = !report.proposals.empty() && report.proposals.front().verdict.stands();
    accepted += stands ? 1 : 0;
    gains.push_back(report.proposals.empty() || !report.proposals.front().verdict.speed
                        ? 0.0
                        : report.proposals.front().verdict.speed->speed - 1.0);
    for (const agents::Judged& one : report.proposals) {
      proposals += 1;
      cited += std::ranges::any_of(one.proposal.citations,
                                   [](const verify::Citation& citation) {
                                     return citation.kind == verify::Cited::kEntry;
                                   })
                   ? 1
                   : 0;
    }
  }
  return fmt::format("| {} | {} | {} | {:.0f} % | {} | {} |\n", parts.name, jobs, accepted,
                     100.0 * median(gains).value_or(0.0), proposals, cited);
}

// --- A profile alone ---------------------------------------------------------------------------

struct RunFault {
  std::string name;  // below tests/data/recorded
  std::string rule;  // of the diagnosis
};
// Of the host, the device, the data and the layout; mending each was measured (steps.csv).
const std::array<RunFault, 6>& run_faults() {
  static const std::array<RunFault, 6> kFaults{{{"input_bound", "input-bound"},
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

tests::RunScore run_score() {
  tests::RunScore score;
  for (const RunFault& fault : run_faults()) {
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
    const auto mends = [&fault](const agents::Judged& one) {
      return one.proposal.change.mends == fault.rule && one.verdict.stands();
    };
    score.runs += 1;
    score.first += !report.proposals.empty() && mends(report.proposals.front()) ? 1 : 0;
    score.among += std::ranges::any_of(report.proposals, mends) ? 1 : 0;
  }
  return score;
}

// --- The page ---------------------------------------------------------------------------------

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

tests::TunePage measured_page() {
  Outcomes outcomes;
  tests::TunePage page;
  const std::vector<TuneGroup>& groups = all_groups();
  page.groups = static_cast<std::int64_t>(groups.size());
  std::map<const TuneGroup*, std::optional<std::size_t>> rules;
  for (const TuneStart& start : tests::tune_starts(groups, false, kMostStarts)) {
    const TuneOutcome& outcome = outcomes.of(start);
    if (!rules.contains(start.group)) {
      rules[start.group] = tests::rules_choice(*start.group);
    }
    const auto& rule = rules[start.group];
    page.sources[start.group->source].add(outcome, rule);
    page.all.add(outcome, rule);
    if (start.group->layouts.size() >= kLargeGroup) {
      page.large.add(outcome, rule);
    }
  }
  for (const TuneStart& start : tests::tune_starts(groups, true, kMostConfidence)) {
    const TuneOutcome& outcome = outcomes.of(start);
    if (!outcome.kind.empty()) {
      tests::KindScore& kind = page.kinds[start.group->source][outcome.kind];
      kind.proposed += 1;
      kind.faster += outcome.is_first_faster() ? 1 : 0;
    }
  }
  for (const Parts& parts :
       {Parts{"all"}, Parts{"without the knowledge base", false, true},
        Parts{"without the planner", true, false}, Parts{"neither", false, false}}) {
    page.parts.push_back(parts_row(parts));
  }
  page.runs = run_score();
  return page;
}

// With SEXTANT_UPDATE_PAGES set in the environment the file is written instead.
void expect_file(const std::filesystem::path& path, const std::string& text) {
  if (std::getenv("SEXTANT_UPDATE_PAGES") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
    std::ofstream(path) << text;
    return;
  }
  const auto file = read_text(path, 1_MiB);
  ASSERT_TRUE(file) << to_text(file.error());
  EXPECT_EQ(*file, text) << "SEXTANT_UPDATE_PAGES=1 writes it";
}

TEST(TuneTruth, FirstProposalsAreFaster) {
  if (!std::filesystem::is_directory(tests::truth_dir())) {
    GTEST_SKIP() << "no measured tables beside the sources: nothing read";
  }
  const tests::TunePage page = measured_page();
  EXPECT_GE(page.all.starts, 60);
  EXPECT_GE(page.sources.size(), 6U);
  for (const auto& [source, score] : page.sources) {
    EXPECT_LE(score.starts, static_cast<std::int64_t>(kMostStarts)) << source;
  }
  EXPECT_GE(page.all.faster * 100, page.all.starts * 85);
  EXPECT_GE(page.all.fastest * 100, page.all.starts * 90);
  EXPECT_GT(static_cast<double>(page.all.faster), page.all.random_faster);
  EXPECT_GT(page.all.faster, page.all.rule_faster);
  // What the judge accepts is what it says: faster.
  EXPECT_GE(page.all.decided_faster * 100, page.all.decided * 95);
  EXPECT_GE(page.runs.among, page.runs.runs - 1);
  expect_file(source_folder() / "docs" / "tuning.md", tests::tune_page(page));
  expect_file(source_folder() / "data" / "agents" / "confidence.toml",
              tests::confidence_text(page.kinds));
}

}  // namespace
}  // namespace sextant
