#include "diagnose/fabric.h"

#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"
#include "machine/collective_estimate.h"
#include "metrics/recording_testing.h"

namespace sextant::diagnose {
namespace {

using metrics::MadeRecording;
using metrics::Summary;
using timeline::Label;

constexpr std::string_view kNode = "8xa100-sxm-80g";

describe::Cluster cluster_of(std::string_view word) {
  return *describe::load_cluster(word, describe::DataStore());
}

Seconds expected_of(std::string_view cluster, std::int64_t ranks, Bytes bytes,
                    std::int64_t stride = 1) {
  const describe::DataStore data;
  machine::CollectiveEstimator estimator(data);
  return estimator({.cluster = cluster_of(cluster),
                    .op = CollectiveOp::kAllReduce,
                    .bytes = bytes,
                    .ranks = ranks,
                    .stride = stride,
                    .links = std::nullopt})
      ->time;
}

// Each rank computes, all-reduces 64 MiB alone for so long, and computes again; five steps. Ranks
// are so far apart.
Summary summary_of_ranks(Seconds transfer, std::size_t seen = 2, std::int64_t stride = 1,
                         std::int64_t late = 0) {
  constexpr std::int64_t kEachStep = 20'000'000;
  const auto takes = static_cast<std::int64_t>(transfer / 1_ns);
  Summary summary;
  for (std::size_t i = 0; i < seen; ++i) {
    MadeRecording made(RankId{static_cast<std::int64_t>(i) * stride});
    Label label = metrics::all_reduce_label(made.recording(), 64_MiB, 2);
    label.collective->group =
        made.recording().timeline.group({.name = "3", .size = 2, .ranks = {{0}, {stride}}});
    const std::int64_t early = i == 0 ? late : 0;
    for (std::int64_t step = 0; step < 5; ++step) {
      const std::int64_t at = step * kEachStep;
      const std::int64_t begins = at + 2'000'000 - early;
      made.step(step, at, at + kEachStep);
      made.launch(at + 1, 5, at + 10, begins - at - 10);
      made.launch(at + 10, 5, begins, takes + early, MadeRecording::kSide, label);
      made.launch(at + 20, 5, begins + early + takes, 1'000'000);
    }
    summary = merge(std::move(summary), metrics::summarize(made.take()));
  }
  return summary;
}

struct Judged {
  FabricView view;
  Findings findings;
};
Judged judged(const Summary& summary, std::string_view cluster) {
  const Scene scene = scene_of(summary, {}, std::nullopt);
  FabricView view = *fabric_view(scene, cluster_of(cluster), describe::DataStore());
  Findings findings = fabric_findings(scene, view);
  return {std::move(view), std::move(findings)};
}

TEST(Fabric, WhatIsAsExpectedIsNoFinding) {
  const Seconds expected = expected_of(kNode, 2, 64_MiB);
  const Judged answer = judged(summary_of_ranks(expected), kNode);
  ASSERT_EQ(answer.view.rows.size(), 1U);
  const FabricRow& row = answer.view.rows[0];
  EXPECT_NEAR(row.transfer / expected, 1.0, 1e-4);
  EXPECT_NEAR(row.achieved_bus() / row.expected_bus(), 1.0, 1e-4);
  EXPECT_TRUE(row.is_matched);
  EXPECT_FALSE(row.falls_short());
  EXPECT_TRUE(answer.findings.found.empty());
  EXPECT_EQ(answer.view.left_out, 0);
}

// Bus bandwidth of two ranks is bytes over time: 2 (n-1) / n of them.
TEST(Fabric, WhatIsBelowTheIntervalIsAFindingWithWhatIsBeyondTheExpected) {
  const Seconds expected = expected_of(kNode, 2, 64_MiB);
  const Seconds taken = 6.0 * expected;
  const Judged answer = judged(summary_of_ranks(taken), kNode);
  ASSERT_EQ(answer.findings.found.size(), 1U);
  const Finding& one = answer.findings.found[0];
  EXPECT_EQ(one.rule, "slow-collective");
  EXPECT_EQ(one.status, Status::kVerified);
  EXPECT_NEAR(one.per_step / (taken - expected), 1.0, 0.01);
  EXPECT_FALSE(one.evidence.empty());
  EXPECT_NE(one.cause.find("all_reduce of 64 MiB over 2 ranks"), std::string::npos) << one.cause;
  EXPECT_NEAR(answer.view.rows[0].achieved_bus() / (64_MiB / taken), 1.0, 1e-4);
}

// Rank 0 waits for rank 1, which comes late: what it takes is not the fabric's.
TEST(Fabric, WaitingForWhoComesLateIsNotTheFabrics) {
  const Seconds expected = expected_of(kNode, 2, 64_MiB);
  const Judged answer = judged(summary_of_ranks(expected, 2, 1, 1'500'000), kNode);
  EXPECT_TRUE(answer.findings.found.empty());
}

TEST(Fabric, OfOneRankTheFastestStandsForAll) {
  const Seconds expected = expected_of(kNode, 2, 64_MiB);
  const Judged slow = judged(summary_of_ranks(6.0 * expected, 1), kNode);
  ASSERT_EQ(slow.findings.found.size(), 1U);
  EXPECT_EQ(slow.findings.found[0].status, Status::kInferred);
  EXPECT_FALSE(slow.view.rows[0].is_matched);
}

// Eight apart, two ranks share no domain of eight: the network's rate is expected.
TEST(Fabric, WhatIsSlowForOneDomainMayBeRightAcrossTwo) {
  const std::string two = "16xa100-sxm-80g";
  const Seconds across = expected_of(two, 2, 64_MiB, 8);
  ASSERT_GT(across, 2.0 * expected_of(two, 2, 64_MiB));
  const Judged answer = judged(summary_of_ranks(across, 2, 8), two);
  ASSERT_EQ(answer.view.rows.size(), 1U);
  EXPECT_EQ(answer.view.rows[0].domains, 2);
  EXPECT_TRUE(answer.findings.found.empty());
}

TEST(Fabric, WhatTheClusterHasNoRoomForIsLeftOut) {
  const Judged answer = judged(summary_of_ranks(1_ms, 2, 8), kNode);
  EXPECT_TRUE(answer.view.rows.empty());
  EXPECT_EQ(answer.view.left_out, 6);  // three kept steps of two ranks
  EXPECT_FALSE(answer.view.reason.empty());
}

TEST(Fabric, WithoutAClusterTheRuleAbstainsAndNamesTheFlag) {
  const Summary summary = summary_of_ranks(1_ms, 1);
  const Diagnosis diagnosis = diagnosis_of(scene_of(summary, {}, std::nullopt));
  const auto asked = std::ranges::find(diagnosis.abstentions, "slow-collective", &Abstention::rule);
  ASSERT_NE(asked, diagnosis.abstentions.end());
}

}  // namespace
}  // namespace sextant::diagnose
