// Traces of whole jobs with known root causes: the straggler study's own (../shared/traces/README).
#include <gtest/gtest.h>

#include "base/places_testing.h"
#include "diagnose/rank_rules.h"
#include "profile_testing.h"

namespace sextant {
namespace {

using diagnose::JobReplay;
using diagnose::Meetings;
using diagnose::ReplayNode;

struct Job {
  metrics::Summary summary;
  Meetings meetings;
};

class Straggler : public testing::Test {
 protected:
  // All steps that the study looked at: those of a sampled trace have no profiler in them.
  static std::optional<Job> job(const std::string& name) {
    const auto path =
        shared_folder() / "traces/bytedance-straggler" / ("timeline-" + name + ".json.gz");
    if (!std::filesystem::exists(path)) {
      return std::nullopt;
    }
    Job job{tests::summary_of(path, metrics::StepRange{0, 1'000'000}), {}};
    job.meetings = diagnose::meetings_of(job.summary);
    return job;
  }
};

double share_of_rank(const JobReplay& replay, std::uint32_t rank) {
  const Seconds without = mended(replay, [&](const ReplayNode& node) { return node.rank == rank; });
  return diagnose::explained_share(replay, without).value_or(0.0);
}

double share_of_last_stage(const JobReplay& replay, const std::vector<std::int64_t>& stages) {
  const std::int64_t last = std::ranges::max(stages);
  const Seconds without =
      mended(replay, [&](const ReplayNode& node) { return stages[node.rank] == last; });
  return diagnose::explained_share(replay, without).value_or(0.0);
}

// S = 1.973, M_W = 1.00 (result-AR.json, mw-AR.json): replica 0 of stage 0 was slowed down.
TEST_F(Straggler, OneSlowWorkerIsNamed) {
  const auto ar = job("AR");
  if (!ar) {
    GTEST_SKIP() << "no ../shared/traces/bytedance-straggler";
  }
  const JobReplay replay = job_replay(ar->summary, ar->meetings);
  EXPECT_EQ(replay.graph.steps.size(), 44U);
  EXPECT_EQ(replay.graph.loosened, 0);
  EXPECT_NEAR(replay.slowdown() / 1.97305, 1.0, 0.01);
  const auto slowest = slowest_workers(replay);
  ASSERT_EQ(slowest.size(), 1U);
  const metrics::RankSummary& worker = ar->summary.ranks.at(slowest[0].rank);
  EXPECT_EQ(worker.coordinates,
            (std::vector<std::pair<std::string, std::int64_t>>{{"dp", 0}, {"pp", 0}, {"tp", 0}}));
  EXPECT_NEAR(share_of_rank(replay, slowest[0].rank), 1.0017, 0.03);
  const auto scene = diagnose::scene_of(ar->summary, {}, std::nullopt);
  const auto findings = rank_findings(scene);
  ASSERT_EQ(findings.found.size(), 1U) << findings.found.at(1).cause;
  EXPECT_EQ(findings.found[0].rule, "slow-worker");
  EXPECT_EQ(findings.found[0].ranks, std::vector<RankId>{worker.rank});
  // A ceiling: what goes without the slowdown, and not much more.
  EXPECT_GE(findings.found[0].per_step / scene.step, 1.0 - 1.0 / 1.97305);
  EXPECT_LE(findings.found[0].per_step / scene.step, 1.2 * (1.0 - 1.0 / 1.97305));
}

// S = 1.179, M_S = 1.22, M_W = 0.03 (result-ST.json, ms-ST.json, mw-ST.json).
TEST_F(Straggler, TheLastStageIsTooLong) {
  const auto st = job("ST");
  if (!st) {
    GTEST_SKIP() << "no ../shared/traces/bytedance-straggler";
  }
  const JobReplay replay = job_replay(st->summary, st->meetings);
  EXPECT_EQ(replay.graph.steps.size(), 32U);
  EXPECT_EQ(replay.graph.loosened, 0);
  EXPECT_NEAR(replay.slowdown() / 1.17870, 1.0, 0.01);
  const std::vector<std::int64_t> stages = stages_of(st->summary, st->meetings);
  EXPECT_NEAR(share_of_last_stage(replay, stages), 1.2194, 0.03);
  EXPECT_NEAR(share_of_rank(replay, slowest_workers(replay).at(0).rank), 0.0314, 0.03);
  const auto scene = diagnose::scene_of(st->summary, {}, std::nullopt);
  const auto findings = rank_findings(scene);
  ASSERT_FALSE(findings.found.empty());
  EXPECT_EQ(findings.found[0].rule, "stage-imbalance");
  for (const RankId rank : findings.found[0].ranks) {
    EXPECT_EQ(stages.at(static_cast<std::size_t>(rank.value)), 3);
  }
  // Four microbatches in four stages leave a bubble; no rank alone is slow.
  for (const diagnose::Finding& finding : findings.found) {
    EXPECT_TRUE(finding.rule == "stage-imbalance" || finding.explained_by == "stage-imbalance")
        << finding.cause;
  }
}

}  // namespace
}  // namespace sextant
