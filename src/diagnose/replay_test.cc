#include "diagnose/replay.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "diagnose/chain.h"
#include "diagnose/cross_path.h"
#include "diagnose/job_testing.h"
#include "diagnose/stages.h"
#include "diagnose/what_if.h"

namespace sextant::diagnose {
namespace {

ReplayGraph graph_of(const metrics::Summary& summary) {
  return replay_graph(summary, meetings_of(summary));
}

TEST(Replay, OfNothingIsEmpty) {
  const metrics::Summary none;
  const ReplayGraph graph = graph_of(none);
  EXPECT_TRUE(graph.steps.empty());
  EXPECT_DOUBLE_EQ(replayed(graph, {}).mean_step() / 1_s, 0.0);
}

// Rank 0 computes 10, rank 1 30; they meet for 5; then 20 each: 30 + 5 + 20.
TEST(Replay, WaitsWhereRanksMeet) {
  MadeJob job(2);
  job.compute(0, 10);
  job.compute(1, 30);
  job.meet_all(5);
  job.compute_all(20);
  job.next_step();
  const ReplayGraph graph = graph_of(job.summary());
  std::vector<std::int64_t> lengths = actual_lengths(graph);
  EXPECT_EQ(replayed(graph, lengths).step_ns, std::vector<std::int64_t>{55});
  // With rank 1 as fast as rank 0: 10 + 5 + 20.
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = lengths[i] == 30 ? 10 : lengths[i];
  }
  EXPECT_EQ(replayed(graph, lengths).step_ns, std::vector<std::int64_t>{35});
}

// A collective of 50 on a stream of its own, beside compute of 40 and then 30: compute does not
// wait for it, and it not for compute.
TEST(Replay, WhatRanBesideOneAnotherWaitsForNothing) {
  metrics::Summary summary;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    metrics::RankSummary one{.rank = {rank}};
    one.steps.push_back({.number = 0, .host = {}, .window = {0, 70}});
    one.names = {"op"};
    one.instances.push_back({.is_counted = true, .start_ns = 0, .end_ns = 50, .name = 0});
    one.work.push_back({.start_ns = 0, .end_ns = 40, .lane = 1, .name = 0, .compute_ns = 40});
    one.work.push_back({.start_ns = 40, .end_ns = 70, .lane = 1, .name = 0, .compute_ns = 30});
    summary.ranks.push_back(one);
  }
  const ReplayGraph graph = graph_of(summary);
  std::vector<std::int64_t> lengths = actual_lengths(graph);
  EXPECT_EQ(replayed(graph, lengths).step_ns.at(0), 70);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = graph.nodes[i].is_work ? lengths[i] : 500;
  }
  EXPECT_EQ(replayed(graph, lengths).step_ns.at(0), 500);
}

// A record that contradicts itself is replayed all the same: each rank says that it sent before it
// received, and neither can have.
TEST(Replay, AContradictionIsLoosened) {
  metrics::Summary summary;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    metrics::RankSummary one{.rank = {rank}};
    one.steps.push_back({.number = 0, .host = {}, .window = {0, 20}});
    one.names = {"a", "b"};
    const auto first = static_cast<std::uint32_t>(rank);
    one.instances.push_back({.is_counted = true, .start_ns = 0, .end_ns = 10, .name = first});
    one.instances.push_back({.is_counted = true, .start_ns = 10, .end_ns = 20, .name = 1 - first});
    summary.ranks.push_back(one);
  }
  const ReplayGraph graph = graph_of(summary);
  EXPECT_GT(graph.loosened, 0);
  EXPECT_EQ(graph.order.size(), graph.nodes.size());
  const Replay replay = replayed(graph, actual_lengths(graph));
  EXPECT_GT(replay.step_ns.at(0), 0);
  EXPECT_EQ(cross_path(graph, replay).total_ns, replay.step_ns.at(0));
}

MadeJob any_job() {
  const auto ranks = *rc::gen::inRange<std::size_t>(2, 6);
  MadeJob job(ranks);
  for (int step = 0; step < 2; ++step) {
    const int events = *rc::gen::inRange(1, 12);
    for (int i = 0; i < events; ++i) {
      const auto rank = *rc::gen::inRange<std::size_t>(0, ranks);
      const auto peer = (rank + *rc::gen::inRange<std::size_t>(1, ranks)) % ranks;
      const auto takes = *rc::gen::inRange<std::int64_t>(1, 1000);
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
          job.meet_all(takes);
          break;
        case 1:
          job.send(rank, peer, takes);
          break;
        default:
          job.compute(rank, takes);
      }
    }
    job.meet_all(1);  // all begin the next step together
    job.next_step();
  }
  return job;
}

// Ranks that do one thing after another: the replay is the record, to the nanosecond.
RC_GTEST_PROP(Replay, AsRecordedIsTheRecord, ()) {
  MadeJob job = any_job();
  const ReplayGraph graph = graph_of(job.summary());
  const Replay replay = replayed(graph, actual_lengths(graph));
  RC_ASSERT(graph.loosened == 0);
  RC_ASSERT(graph.steps.size() == 2U);
  for (std::size_t step = 0; step < 2; ++step) {
    const metrics::Interval window = job.summary().ranks[0].steps[step].window;
    RC_ASSERT(replay.step_ns[step] == window.length_ns());
  }
}

// Nothing that is done faster makes a step longer.
RC_GTEST_PROP(Replay, ShorterWorkNeverMakesALongerStep, ()) {
  MadeJob job = any_job();
  const ReplayGraph graph = graph_of(job.summary());
  std::vector<std::int64_t> lengths = actual_lengths(graph);
  const Replay before = replayed(graph, lengths);
  for (std::int64_t& length : lengths) {
    length = length * *rc::gen::inRange<std::int64_t>(0, 101) / 100;
  }
  const Replay after = replayed(graph, lengths);
  for (std::size_t step = 0; step < before.step_ns.size(); ++step) {
    RC_ASSERT(after.step_ns[step] <= before.step_ns[step]);
  }
}

RC_GTEST_PROP(CrossPath, AddsUpToTheSteps, ()) {
  MadeJob job = any_job();
  const ReplayGraph graph = graph_of(job.summary());
  const Replay replay = replayed(graph, actual_lengths(graph));
  const CrossPath path = cross_path(graph, replay);
  std::int64_t parts = 0;
  for (const auto& rank : path.by_rank) {
    for (const std::int64_t part : rank) {
      parts += part;
    }
  }
  RC_ASSERT(path.total_ns == replay.step_ns[0] + replay.step_ns[1]);
  RC_ASSERT(parts == path.total_ns);
}

Chain chain_of_job(const metrics::Summary& summary) {
  const ReplayGraph graph = graph_of(summary);
  return chain_of(graph, replayed(graph, actual_lengths(graph)),
                  peer_totals(graph, PeerMeasure::kMedian));
}

// Of three ranks that compute 100, rank 1's host is late by 40: the two others wait 40 each.
TEST(Chain, WaitingGoesBackToTheLateRankAndItsCause) {
  MadeJob job(3);
  job.compute(0, 100);
  job.work(1, {.compute_ns = 100, .host_ns = 40});
  job.compute(2, 100);
  job.meet_all(5);
  job.next_step();
  const Chain chain = chain_of_job(job.summary());
  EXPECT_EQ(chain.waiting_ns, 80);
  ASSERT_EQ(chain.roots.size(), 1U);
  EXPECT_EQ(chain.roots[0].rank, 1U);
  EXPECT_EQ(chain.roots[0].cause, LateCause::kHost);
  EXPECT_EQ(chain.roots[0].waiting_ns, 80);
  EXPECT_EQ(chain.roots[0].worst_ns, 40);
}

// Rank 0 is late to its group with 1, so 1 is late to its group with 2, who has done nothing to
// either: the root is rank 0, not rank 1.
TEST(Chain, LatenessIsCaughtFromGroupToGroup) {
  MadeJob job(4);
  job.work(0, {.compute_ns = 100, .data_ns = 60});
  for (const std::size_t rank : {1U, 2U, 3U}) {
    job.compute(rank, 100);
  }
  job.meet({0, 1}, 10);
  job.meet({2, 3}, 10);
  job.compute_all(50);
  job.meet({1, 2}, 10);
  job.meet({0, 3}, 10);
  job.next_step();
  const Chain chain = chain_of_job(job.summary());
  // Rank 1 waits 60 for rank 0; then 2 waits 60 for 1, and 3 waits 60 for 0.
  EXPECT_EQ(chain.waiting_ns, 180);
  ASSERT_FALSE(chain.roots.empty());
  EXPECT_EQ(chain.roots[0].rank, 0U);
  EXPECT_EQ(chain.roots[0].cause, LateCause::kData);
  EXPECT_EQ(chain.roots[0].waiting_ns, 180);
}

// The study's definitions by hand: four ranks compute 100, one 300, in the same place. Ideal: 150
// each. As recorded 300 + 10, ideally 150 + 10.
TEST(WhatIf, SlowdownIsAsRecordedOverIdeal) {
  MadeJob job(4);
  for (const std::size_t rank : {0U, 1U, 2U}) {
    job.compute(rank, 100);
  }
  job.compute(3, 300);
  job.meet_all(10);
  job.next_step();
  const JobReplay replay = job_replay(job.summary(), meetings_of(job.summary()));
  EXPECT_DOUBLE_EQ(replay.slowdown(), 310.0 / 160.0);
  const auto slowest = slowest_workers(replay);
  ASSERT_EQ(slowest.size(), 1U);
  EXPECT_EQ(slowest[0].rank, 3U);
  EXPECT_DOUBLE_EQ(slowest[0].slowdown, 310.0 / 160.0);
  const Seconds without = mended(replay, [](const ReplayNode& node) { return node.rank == 3; });
  EXPECT_DOUBLE_EQ(explained_share(replay, without).value(), 1.0);
}

TEST(WhatIf, StagesAreToldByWhoSendsToWhom) {
  MadeJob job(6);  // two pipelines of three
  for (const std::size_t first : {0U, 1U}) {
    job.send(first, first + 2, 1);
    job.send(first + 2, first + 4, 1);
  }
  job.next_step();
  EXPECT_EQ(stages_of(job.summary(), meetings_of(job.summary())),
            (std::vector<std::int64_t>{0, 0, 1, 1, 2, 2}));
  MadeJob flat(2);
  flat.meet_all(1);
  flat.next_step();
  EXPECT_TRUE(stages_of(flat.summary(), meetings_of(flat.summary())).empty());
}

}  // namespace
}  // namespace sextant::diagnose
