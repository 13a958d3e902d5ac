#include "diagnose/rank_rules.h"

#include <functional>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "diagnose/job_testing.h"
#include "diagnose/rule_book.h"

namespace sextant::diagnose {
namespace {

constexpr std::int64_t kUs = 1'000;

Findings rank_rules_on(const metrics::Summary& summary) {
  return rank_findings(scene_of(summary, {}, std::nullopt));
}

// Steps of eight ranks that compute and sum, ten times each. `disturb` may do what it likes before
// each sum.
using Disturb = std::function<void(MadeJob&, std::int64_t step, int round)>;

metrics::Summary replicas(const Disturb& disturb, std::int64_t steps = 4) {
  MadeJob job(8);
  for (std::int64_t step = 0; step < steps; ++step) {
    for (int round = 0; round < 10; ++round) {
      disturb(job, step, round);
      job.meet_all(20 * kUs);
    }
    job.next_step();
  }
  return job.summary();
}

void expect_one(const Findings& findings, const std::string& rule, std::vector<RankId> ranks) {
  ASSERT_EQ(findings.found.size(), 1U);
  const Finding& finding = findings.found[0];
  EXPECT_EQ(finding.rule, rule) << finding.cause;
  EXPECT_EQ(finding.ranks, ranks) << finding.cause;
  EXPECT_FALSE(finding.evidence.empty());
  Seconds parts{};
  for (const Seconds part : finding.parts) {
    parts += part;
  }
  EXPECT_NEAR(parts / finding.per_step, 1.0, 1e-9);
}

// Every rank takes 100 µs, give or take 3: nobody is late.
RC_GTEST_PROP(RankRules, OfAHealthyJobSayNothing, ()) {
  const metrics::Summary summary = replicas([](MadeJob& job, std::int64_t, int) {
    for (std::size_t rank = 0; rank < 8; ++rank) {
      job.work(rank, {.compute_ns = (97 + *rc::gen::inRange<std::int64_t>(0, 7)) * kUs,
                      .host_ns = *rc::gen::inRange<std::int64_t>(0, 3) * kUs});
    }
  });
  for (const Finding& finding : rank_rules_on(summary).found) {
    RC_FAIL(finding.cause);
  }
}

struct LateCase {
  const char* rule;
  metrics::OwnWork more;
};

// Rank 5 takes 40 of 140 µs longer than its peers, each time: 40 of 160 with the sum.
TEST(RankRules, ALateRankIsNamedWithItsCause) {
  for (const LateCase& late : {LateCase{"late-rank", {.host_ns = 40 * kUs}},
                               LateCase{"slow-worker", {.compute_ns = 40 * kUs}},
                               LateCase{"data-late-rank", {.data_ns = 40 * kUs}}}) {
    const metrics::Summary summary = replicas([&](MadeJob& job, std::int64_t, int) {
      job.compute_all(100 * kUs);
      job.work(5, late.more);
    });
    const Findings findings = rank_rules_on(summary);
    ASSERT_NO_FATAL_FAILURE(expect_one(findings, late.rule, {{5}})) << late.rule;
    const Scene scene = scene_of(summary, {}, std::nullopt);
    // 40 of 160 ms, and the twentieth that a replay may be off by.
    EXPECT_NEAR(findings.found[0].per_step / scene.step, 1.05 * 40.0 / 160.0, 1e-6);
  }
}

// Once, in one of four steps, it is chance; so it is if it is another rank in each.
TEST(RankRules, WhatHappensOnceIsChance) {
  const auto once = [](MadeJob& job, std::int64_t step, int round) {
    job.compute_all(100 * kUs);
    if (step == 1 && round == 3) {
      job.work(5, {.host_ns = 900 * kUs});
    }
  };
  EXPECT_TRUE(rank_rules_on(replicas(once)).found.empty());
  const auto in_turn = [](MadeJob& job, std::int64_t step, int) {
    job.compute_all(100 * kUs);
    job.work(static_cast<std::size_t>(step), {.host_ns = 40 * kUs});
  };
  EXPECT_TRUE(rank_rules_on(replicas(in_turn)).found.empty());
}

// Every host takes 60 µs; one takes 90. That hosts are slow is no rank's doing.
TEST(RankRules, AHostLikeItsPeersIsNotLate) {
  const metrics::Summary summary = replicas([](MadeJob& job, std::int64_t, int) {
    for (std::size_t rank = 0; rank < 8; ++rank) {
      job.work(rank, {.compute_ns = 100 * kUs, .host_ns = (rank == 5 ? 90 : 60) * kUs});
    }
  });
  EXPECT_TRUE(rank_rules_on(summary).found.empty());
}

// Of one step alone only what comes again in it counts.
TEST(RankRules, OneStepShowsWhatComesAgainInIt) {
  const auto always = [](MadeJob& job, std::int64_t, int) {
    job.compute_all(100 * kUs);
    job.work(5, {.host_ns = 40 * kUs});
  };
  expect_one(rank_rules_on(replicas(always, 1)), "late-rank", {{5}});
  const auto once = [](MadeJob& job, std::int64_t, int round) {
    job.compute_all(100 * kUs);
    job.work(5, {.host_ns = round == 4 ? 400 * kUs : 0});
  };
  EXPECT_TRUE(rank_rules_on(replicas(once, 1)).found.empty());
}

// If half of all ranks are slow, that is how the job is.
TEST(RankRules, HalfOfTheRanksAreNoStragglers) {
  const metrics::Summary summary = replicas([](MadeJob& job, std::int64_t, int) {
    for (std::size_t rank = 0; rank < 8; ++rank) {
      job.compute(rank, (rank % 2 == 0 ? 100 : 140) * kUs);
    }
  });
  EXPECT_TRUE(rank_rules_on(summary).found.empty());
}

TEST(RankRules, OneRankAloneSaysNothingOfOthers) {
  MadeJob job(1);
  job.compute(0, 100);
  job.next_step();
  const Findings findings = rank_rules_on(job.summary());
  EXPECT_TRUE(findings.found.empty());
  EXPECT_EQ(findings.abstained.size(), 7U);
  EXPECT_EQ(findings.abstained[0].missing, "profiles of other ranks of the job");
}

// Pairs 0-1, 2-3, 4-5, 6-7 and 1-2, 3-4, 5-6, 7-0 sum in turn; whatever rank 3 is in takes 60
// instead of 20 µs.
TEST(RankRules, ASlowLinkIsOfTheRankAllOfWhoseLinksAreSlow) {
  MadeJob job(8);
  for (int step = 0; step < 4; ++step) {
    for (int round = 0; round < 6; ++round) {
      job.compute_all(100 * kUs);
      for (std::size_t rank = static_cast<std::size_t>(round % 2); rank < 8; rank += 2) {
        const std::size_t next = (rank + 1) % 8;
        job.meet({std::min(rank, next), std::max(rank, next)},
                 (rank == 3 || next == 3 ? 60 : 20) * kUs);
      }
    }
    job.next_step();
  }
  const Findings findings = rank_rules_on(job.summary());
  expect_one(findings, "straggling-link", {{3}});
}

// Of twelve sums in a step, three take four times as long.
TEST(RankRules, ASlowCollectiveIsAgainstTheGroupsOwn) {
  MadeJob job(4);
  for (int step = 0; step < 3; ++step) {
    for (int round = 0; round < 12; ++round) {
      job.compute_all(100 * kUs);
      job.meet_all((round % 4 == 1 ? 80 : 20) * kUs);
    }
    job.next_step();
  }
  expect_one(rank_rules_on(job.summary()), "slow-collective", {{0}, {1}, {2}, {3}});
}

// A pipeline of four stages and `batches` microbatches: all forward, then all backward. Stage
// `slow` takes half as long again.
metrics::Summary pipeline(int batches, std::size_t slow) {
  constexpr std::size_t kStages = 4;
  MadeJob job(kStages);
  for (int step = 0; step < 3; ++step) {
    for (int batch = 0; batch < batches; ++batch) {
      for (std::size_t stage = 0; stage < kStages; ++stage) {
        if (stage > 0) {
          job.send(stage - 1, stage, kUs);
        }
        job.compute(stage, (stage == slow ? 150 : 100) * kUs);
      }
    }
    for (int batch = 0; batch < batches; ++batch) {
      for (std::size_t stage = kStages; stage-- > 0;) {
        if (stage + 1 < kStages) {
          job.send(stage + 1, stage, kUs);
        }
        job.compute(stage, (stage == slow ? 300 : 200) * kUs);
      }
    }
    job.meet_all(kUs);
    job.next_step();
  }
  return job.summary();
}

TEST(RankRules, ALongStageIsNoSlowWorker) {
  const Findings findings = rank_rules_on(pipeline(32, 3));
  expect_one(findings, "stage-imbalance", {{3}});
}

TEST(RankRules, FewMicrobatchesLeaveABubble) {
  const Findings findings = rank_rules_on(pipeline(6, 99));
  ASSERT_EQ(findings.found.size(), 1U);
  EXPECT_EQ(findings.found[0].rule, "pipeline-bubble");
  // (p − 1) / (m + p − 1) of the step is no more than that.
  const metrics::Summary summary = pipeline(6, 99);
  EXPECT_LE(findings.found[0].per_step, 3.0 / 9.0 * scene_of(summary, {}, std::nullopt).step);
  EXPECT_TRUE(rank_rules_on(pipeline(32, 99)).found.empty());
}

TEST(RankRules, AreAllInTheBook) {
  const auto book = RuleBook::load(describe::DataStore());
  ASSERT_TRUE(book) << to_text(book.error());
  for (const char* rule : {"late-rank", "slow-worker", "data-late-rank", "stage-imbalance",
                           "pipeline-bubble", "straggling-link", "slow-collective"}) {
    EXPECT_NE(book->find(rule), nullptr) << rule;
  }
}

}  // namespace
}  // namespace sextant::diagnose
