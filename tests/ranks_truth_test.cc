// Who holds the others up, on real profiles whose answer is known (../shared/traces/README.md).
#include <array>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "base/places_testing.h"
#include "diagnose/rank_rules.h"
#include "profile_testing.h"

namespace sextant {
namespace {

using diagnose::Finding;
using diagnose::Findings;
using diagnose::RankStudy;
using diagnose::Scene;
using metrics::Summary;
using timeline::Recording;

// What a clock that runs fast by `ppm` and shows `offset_s` more would have recorded: every time of
// the recording anew.
Recording on_other_clock(const Recording& recording, double offset_s, double ppm) {
  const auto anew = [&](std::int64_t at_ns) {
    return at_ns + std::llround(1e-6 * ppm * static_cast<double>(at_ns));
  };
  Recording moved = recording;
  moved.origin_ns += std::llround(offset_s * 1e9);
  moved.timeline = timeline::Timeline();
  for (const timeline::Group& group : recording.timeline.groups()) {
    moved.timeline.group(group);
  }
  for (const timeline::Lane& lane : recording.timeline.lanes()) {
    moved.timeline.lane(lane.rank, lane.stream, lane.name, lane.place);
  }
  for (const timeline::Span& span : recording.timeline.spans()) {
    timeline::Occurrence what = recording.timeline.occurrence_of(span);
    what.label = moved.timeline.label(recording.timeline.label_of(span));
    const std::int64_t start = anew(span.start_ns);
    moved.timeline.add({span.lane}, what, start, anew(span.end_ns()) - start);
  }
  moved.timeline.sort();
  for (timeline::RecordedStep& step : moved.steps) {
    step.start_ns = anew(step.start_ns);
    step.end_ns = anew(step.end_ns);
  }
  for (timeline::StreamWait& wait : moved.waits) {
    wait.at_ns = anew(wait.at_ns);
  }
  return moved;
}

Summary joined_summary(const std::vector<Recording>& recordings) {
  Summary summary;
  for (const Recording& recording : recordings) {
    summary = merge(std::move(summary), metrics::summarize(recording));
  }
  return summary;
}

Findings rank_findings_of(const Summary& summary) {
  return rank_findings(diagnose::scene_of(summary, {}, std::nullopt));
}

std::vector<Recording> megatron() {
  return tests::recordings_in(shared_folder() / "traces/megatron-tp8", "megatron_kineto");
}

// One finding: ranks 0 and 6, launched late by their hosts.
void expect_late_hosts(const Findings& findings) {
  ASSERT_EQ(findings.found.size(), 1U);
  const Finding& late = findings.found[0];
  EXPECT_EQ(late.rule, "late-rank") << late.cause;
  EXPECT_EQ(late.ranks, (std::vector<RankId>{{0}, {6}})) << late.cause;
  EXPECT_EQ(late.status, diagnose::Status::kVerified);
  EXPECT_FALSE(late.evidence.empty());
}

// 191/431/363/422/445/441/214/432 ms of waiting, 50.1 ms of transfer; ranks 0 and 6 come last to 32
// and 28 of 84 all-reduces.
TEST(Ranks, WaitingAndTransferOfMegatronAreTold) {
  const std::vector<Recording> recordings = megatron();
  if (recordings.empty()) {
    GTEST_SKIP() << "no ../shared/traces/megatron-tp8";
  }
  const Summary summary = joined_summary(recordings);
  const auto meetings = diagnose::meetings_of(summary);
  const auto arrivals = arrivals_of(summary, meetings);
  EXPECT_NEAR(static_cast<double>(arrivals.transfer_ns) / 1e6, 50.1, 0.05);
  const std::array<double, 8> waits{191, 431, 363, 422, 445, 441, 214, 432};
  for (std::size_t rank = 0; rank < waits.size(); ++rank) {
    EXPECT_NEAR(static_cast<double>(arrivals.ranks.at(rank).waiting_ns) / 1e6, waits.at(rank), 0.5);
    EXPECT_EQ(arrivals.ranks.at(rank).meetings, 84);
  }
  EXPECT_EQ(arrivals.ranks[0].last, 32);
  EXPECT_EQ(arrivals.ranks[6].last, 28);
}

TEST(Ranks, ZeroAndSixOfMegatronAreLaunchedLate) {
  const std::vector<Recording> recordings = megatron();
  if (recordings.empty()) {
    GTEST_SKIP() << "no ../shared/traces/megatron-tp8";
  }
  const Summary summary = joined_summary(recordings);
  const RankStudy study = diagnose::rank_study(summary);
  const Scene scene = diagnose::scene_of(summary, {}, std::nullopt);
  const Findings findings = rank_findings(scene, study);
  expect_late_hosts(findings);
  // Nearly half of the 620 ms step; transfers are 50 of it, so communication is not what binds.
  EXPECT_GT(findings.found[0].per_step, 0.4 * scene.step);
  EXPECT_LT(findings.found[0].per_step, 0.65 * scene.step);
  // Their clocks agree: ends of collectives spread by 30 µs at the median.
  EXPECT_EQ(study.clocks.unaligned, 0U);
  EXPECT_LT(study.clocks.typical_residual.value(), 30_us);
  // The path through late arrivals is the whole step, and mostly these two ranks' hosts.
  EXPECT_EQ(study.path.total_ns, study.job.as_recorded.step_ns.at(0));
  std::int64_t late_hosts = 0;
  for (const std::size_t rank : {0U, 6U}) {
    late_hosts +=
        study.path.by_rank.at(rank).at(static_cast<std::size_t>(diagnose::LateCause::kHost));
  }
  EXPECT_GT(2 * late_hosts, study.path.total_ns);
}

// Offsets of up to 10 s and drifts of up to 50 parts in a million, different for each rank.
TEST(Ranks, OtherClocksChangeNothing) {
  const std::vector<Recording> recordings = megatron();
  if (recordings.empty()) {
    GTEST_SKIP() << "no ../shared/traces/megatron-tp8";
  }
  const std::array<double, 8> offsets{0.0, 10.0, -10.0, 3.7, -0.001, 9.99, -7.25, 0.5};
  const std::array<double, 8> drifts{0.0, 50.0, -50.0, 12.5, -33.0, 50.0, -50.0, 1.0};
  std::vector<Recording> moved;
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    moved.push_back(on_other_clock(recordings[i], offsets.at(i), drifts.at(i)));
  }
  const Summary before = joined_summary(recordings);
  const Summary after = joined_summary(moved);
  const Findings findings = rank_findings_of(after);
  expect_late_hosts(findings);
  const double was = rank_findings_of(before).found.at(0).per_step / 1_ms;
  EXPECT_NEAR(findings.found[0].per_step / 1_ms, was, 1e-3 * was);
  const auto clocks = clocks_of(after, diagnose::meetings_of(after));
  EXPECT_EQ(clocks.unaligned, 0U);
  EXPECT_LT(clocks.typical_residual.value(), 30_us);
  // What was added is found again, to what the clocks were apart by before.
  const auto real = clocks_of(before, diagnose::meetings_of(before));
  for (std::size_t i = 0; i < clocks.ranks.size(); ++i) {
    const std::int64_t moment = after.ranks[i].steps.at(0).window.end_ns;
    const std::int64_t there = clocks.ranks[i].on_reference(moment);
    const std::int64_t expected =
        real.ranks[i].on_reference(before.ranks[i].steps.at(0).window.end_ns);
    EXPECT_LT(std::abs(there - expected), 50'000) << i;
  }
}

// Ranks 1 to 4 of 8: they wait for somebody who is not there. Nothing is said of the job.
TEST(Ranks, SomeOfMegatronsRanksBlameNobodyWhoIsNotThere) {
  std::vector<Recording> recordings = megatron();
  if (recordings.empty()) {
    GTEST_SKIP() << "no ../shared/traces/megatron-tp8";
  }
  recordings.erase(recordings.begin() + 5, recordings.end());
  recordings.erase(recordings.begin());
  for (const Finding& finding : rank_findings_of(joined_summary(recordings)).found) {
    EXPECT_NE(finding.status, diagnose::Status::kVerified) << finding.cause;
    EXPECT_NE(finding.cause.find("of the 4 ranks given"), std::string::npos) << finding.cause;
  }
  recordings.resize(1);
  const Findings alone = rank_findings_of(joined_summary(recordings));
  EXPECT_TRUE(alone.found.empty());
  EXPECT_FALSE(alone.abstained.empty());
}

TEST(Ranks, OneOfEightIsLateThroughItsData) {
  const std::vector<Recording> late =
      tests::recordings_in(shared_folder() / "traces/gloo_ranks/late_data", "rank");
  const std::vector<Recording> plain =
      tests::recordings_in(shared_folder() / "traces/gloo_ranks/plain", "rank");
  if (late.empty() || plain.empty()) {
    GTEST_SKIP() << "no ../shared/traces/gloo_ranks";
  }
  const Summary faulty = joined_summary(late);
  const Findings findings = rank_findings_of(faulty);
  ASSERT_EQ(findings.found.size(), 1U);
  EXPECT_EQ(findings.found[0].rule, "data-late-rank") << findings.found[0].cause;
  EXPECT_EQ(findings.found[0].ranks, std::vector<RankId>{{2}});
  const Summary healthy = joined_summary(plain);
  for (const Finding& finding : rank_findings_of(healthy).found) {
    ADD_FAILURE() << finding.rule << ": " << finding.cause;
  }
  // What the fault cost, by the run without it, is within what the finding says, and at least half.
  const Seconds saved = diagnose::scene_of(faulty, {}, std::nullopt).step -
                        diagnose::scene_of(healthy, {}, std::nullopt).step;
  EXPECT_LE(saved, findings.found[0].per_step);
  EXPECT_GE(saved, 0.5 * findings.found[0].per_step);
}

}  // namespace
}  // namespace sextant
