// What is made up holds together, and the readers see it as it was made.
#include "made_run.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "made_jobs.h"
#include "made_profiles.h"
#include "metrics/summary.h"
#include "profile/read.h"
#include "profile/testing.h"

namespace sextant::tests {
namespace {

MadeRun plain_run(JobKind kind) {
  const MadeCase& made = made_case(kind);
  return made_run(made.job, made.plan, {});
}

// Two ranks, one collective: the first waits for the second, and both for the transfer.
TEST(MadeRun, ACollectiveEndsForAllWhenTheLastHasComeAndItsTransferIsOver) {
  MadeRun run;
  run.groups.push_back({"0", "default_pg", {0, 1}});
  MadeCollective reduce;
  reduce.members = {0, 1};
  reduce.transfer = 5_ms;
  run.collectives.push_back(reduce);
  for (const Seconds late : {0_ms, 20_ms}) {
    MadeRank rank;
    rank.calls.push_back({.kind = MadeCallKind::kPause, .takes = late});
    rank.calls.push_back({.kind = MadeCallKind::kLaunch, .takes = 1_ms, .work = 0});
    rank.calls.push_back({.kind = MadeCallKind::kWait, .work = 0});
    rank.works.push_back({.kind = timeline::SpanKind::kCommunication, .collective = 0});
    run.ranks.push_back(std::move(rank));
  }
  ASSERT_TRUE(simulate(run));
  // The second is there 20 ms after its pause, a call of 1 ms and 3 µs that a launch takes.
  EXPECT_NEAR(run.ranks[1].works[0].start / 1_ms, 21.003, 1e-9);
  EXPECT_NEAR(run.ranks[0].works[0].start / 1_ms, 1.003, 1e-9);
  for (const MadeRank& rank : run.ranks) {
    EXPECT_NEAR(rank.works[0].end / 1_ms, 26.003, 1e-9);
    EXPECT_GE(rank.calls.back().end, rank.works[0].end);
  }
}

TEST(MadeRun, ProgramsThatDoNotFitEachOtherAreToldApart) {
  MadeRun run;
  run.groups.push_back({"0", "default_pg", {0, 1}});
  MadeCollective reduce;
  reduce.members = {0, 1};
  run.collectives.push_back(reduce);
  run.ranks.resize(2);
  run.ranks[0].calls.push_back({.kind = MadeCallKind::kLaunch, .work = 0});
  run.ranks[0].works.push_back({.kind = timeline::SpanKind::kCommunication, .collective = 0});
  EXPECT_FALSE(simulate(run));
}

TEST(MadeRun, NothingRunsBeforeWhatItComesAfter) {
  for (const JobKind kind : kJobs) {
    const MadeRun run = plain_run(kind);
    for (const MadeRank& rank : run.ranks) {
      std::map<int, Seconds> ends;  // by stream
      for (const MadeWork& work : rank.works) {
        EXPECT_GE(work.start, ends[work.stream]);
        ends[work.stream] = work.end;
        for (const std::size_t one : work.after) {
          ASSERT_GE(work.start, rank.works[one].end) << name_of(kind);
        }
      }
    }
  }
}

TEST(MadeRun, TheSameSeedMakesTheSameBytes) {
  const MadeRun once = plain_run(JobKind::kSharded);
  const MadeRun again = plain_run(JobKind::kSharded);
  EXPECT_EQ(kineto_profile(once, 3), kineto_profile(again, 3));
}

// Every event is read, every collective with its group, and the steps take what they took.
TEST(MadeProfiles, AreReadAsTheyWereMade) {
  const MadeRun run = plain_run(JobKind::kSharded);
  metrics::Summary summary;
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    const auto recording = profile::read_profile_bytes(kineto_profile(run, rank), "made.json",
                                                       profile::options_of_tests());
    ASSERT_TRUE(recording) << to_text(recording.error());
    EXPECT_TRUE(recording->unread.empty());
    summary = merge(std::move(summary), metrics::summarize(*recording));
  }
  ASSERT_EQ(summary.ranks.size(), 8U);
  for (const metrics::RankSummary& rank : summary.ranks) {
    EXPECT_EQ(rank.steps.size(), 2U);  // of four
    const Seconds mean = static_cast<double>(rank.total().time.total_ns()) /
                         static_cast<double>(rank.steps.size()) * 1_ns;
    EXPECT_NEAR(mean / true_step(run), 1.0, 0.002);
    for (const metrics::CollectiveInstance& one : rank.instances) {
      ASSERT_NE(one.group, metrics::kNone);
      EXPECT_TRUE(one.op && one.bytes);
    }
  }
  for (const metrics::MatchedCollective& match : metrics::matched_collectives(summary)) {
    EXPECT_EQ(match.seen.size(), 8U);
  }
}

// The model's own step for the job, less what it adds for loop and uneven devices (5 %) and what
// fewer layers leave out.
TEST(MadeRun, TakesAboutWhatTheModelSays) {
  for (const JobKind kind : kJobs) {
    const MadeCase& made = made_case(kind);
    const MadeRun run = plain_run(kind);
    const double share =
        static_cast<double>(made.plan.layers) / static_cast<double>(made.job.layers);
    EXPECT_NEAR(true_step(run) / (made.job.step * share), 0.95, 0.1) << name_of(kind);
  }
}

}  // namespace
}  // namespace sextant::tests
