#include "diagnose/host_rules.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "describe/data_store.h"
#include "diagnose/host_losses.h"
#include "diagnose/rule_book.h"

namespace sextant::diagnose {
namespace {

using metrics::RankSummary;
using metrics::Signal;
using metrics::SignalRow;

constexpr std::int64_t kMs = 1'000'000;

SignalRow row(Signal signal, const std::string& what, std::int64_t idle_ms,
              std::int64_t copy_ms = 0, std::int64_t after_ms = 0) {
  SignalRow one;
  one.signal = signal;
  one.what = what;
  one.time.add((idle_ms + copy_ms) * kMs);
  one.idle_ns = idle_ms * kMs;
  one.copy_ns = copy_ms * kMs;
  one.after_ns = after_ms * kMs;
  one.longest = {{0, (idle_ms + copy_ms) * kMs}};
  return one;
}

// One step of 100 ms, 60 of them idle and 30 nothing but copies.
RankSummary summary_of_rank(std::int64_t rank, std::vector<SignalRow> rows) {
  RankSummary summary;
  summary.rank = RankId{rank};
  metrics::StepMeasures step;
  step.number = 1;
  step.window = {0, 100 * kMs};
  step.time.compute_ns = 10 * kMs;
  step.time.exposed_copy_ns = 30 * kMs;
  step.time.idle_ns = 60 * kMs;
  summary.steps = {step};
  summary.signals = std::move(rows);
  return summary;
}

Findings findings_of(const std::vector<RankSummary>& ranks,
                     std::optional<Bytes> device_memory = std::nullopt) {
  const metrics::Summary summary{.ranks = ranks};
  return host_findings(scene_of(summary, {}, device_memory));
}

const Finding* find(const Findings& findings, std::string_view rule) {
  for (const Finding& finding : findings.found) {
    if (finding.rule == rule) {
      return &finding;
    }
  }
  return nullptr;
}

TEST(HostRules, EachIsInTheBook) {
  const auto book = RuleBook::load(describe::DataStore());
  ASSERT_TRUE(book) << to_text(book.error());
  for (std::size_t i = 0; i < kHostRules; ++i) {
    EXPECT_NE(book->find(rule_id(static_cast<HostRule>(i))), nullptr) << i;
  }
}

TEST(HostRules, WhatCostsLessThanAHundredthIsNotSaid) {
  SignalRow small = row(Signal::kSync, "aten::item", 0);
  small.idle_ns = kMs - 1;
  EXPECT_TRUE(findings_of({summary_of_rank(0, {small})}).found.empty());
}

TEST(HostRules, PartsAddUpToTheLoss) {
  const Findings findings =
      findings_of({summary_of_rank(0, {row(Signal::kCopyIn, "aten::to", 5, 20, 3)})});
  const Finding* found = find(findings, "pageable-copies");
  ASSERT_NE(found, nullptr);
  EXPECT_DOUBLE_EQ(found->per_step / 1_ms, 28.0);
  EXPECT_DOUBLE_EQ(found->parts[static_cast<std::size_t>(StepPart::kExposedCopy)] / 1_ms, 20.0);
  EXPECT_DOUBLE_EQ(found->parts[static_cast<std::size_t>(StepPart::kIdle)] / 1_ms, 8.0);
  EXPECT_EQ(found->status, Status::kVerified);
  EXPECT_EQ(found->evidence.size(), 1U);
}

// A file of a summary may say anything: no more is lost than the step has.
TEST(HostRules, NoMoreIsLostThanTheDeviceIdled) {
  const Findings findings =
      findings_of({summary_of_rank(0, {row(Signal::kSync, "aten::item", 500, 300)})});
  ASSERT_EQ(findings.found.size(), 1U);
  EXPECT_DOUBLE_EQ(findings.found[0].per_step / 1_ms, 90.0);
}

TEST(HostRules, MostLateLaunchesInAnOptimizerAskForAFusedOne) {
  const Findings inside =
      findings_of({summary_of_rank(0, {row(Signal::kDispatch, "Optimizer.step#AdamW.step", 30),
                                       row(Signal::kDispatch, "", 10)})});
  ASSERT_EQ(inside.found.size(), 1U);
  EXPECT_EQ(inside.found[0].advice.front(), "optimizer");
  const Findings outside = findings_of({summary_of_rank(0, {row(Signal::kDispatch, "", 30)})});
  EXPECT_EQ(outside.found.at(0).advice.front(), "graph");
}

TEST(HostRules, AdviceIsThatOfTheBook) {
  const auto book = RuleBook::load(describe::DataStore());
  ASSERT_TRUE(book) << to_text(book.error());
  const Findings findings = findings_of({summary_of_rank(0, {row(Signal::kDispatch, "", 30)})});
  for (const std::string& id : findings.found.at(0).advice) {
    EXPECT_TRUE(std::ranges::any_of(book->rule("launch-bound").advice, [&](const Advice& one) {
      return one.id == id;
    })) << id;
  }
}

TEST(HostRules, LateLaunchesAfterAStallAreTheStalls) {
  const Findings findings = findings_of({summary_of_rank(
      0, {row(Signal::kDispatch, "", 30), row(Signal::kSync, "aten::item", 2, 0, 25)})});
  ASSERT_NE(find(findings, "host-sync"), nullptr);
  EXPECT_DOUBLE_EQ(find(findings, "host-sync")->per_step / 1_ms, 27.0);
  ASSERT_NE(find(findings, "launch-bound"), nullptr);
  EXPECT_DOUBLE_EQ(find(findings, "launch-bound")->per_step / 1_ms, 5.0);
}

TEST(HostRules, WithoutALoaderTheStartOfAStepIsTakenForFetching) {
  const SignalRow start = row(Signal::kStepStart, "", 40);
  const Findings alone = findings_of({summary_of_rank(0, {start})});
  ASSERT_NE(find(alone, "input-bound"), nullptr);
  EXPECT_EQ(find(alone, "input-bound")->status, Status::kInferred);
  // A loader that is recorded, and took nothing, is not the cause.
  const Findings both =
      findings_of({summary_of_rank(0, {start, row(Signal::kData, "enumerate(DataLoader)", 0)})});
  EXPECT_EQ(find(both, "input-bound"), nullptr);
  ASSERT_NE(find(both, "host-busy"), nullptr);
  EXPECT_EQ(find(both, "host-busy")->status, Status::kUnverified);
}

// A loop of JAX that sleeps before it dispatches a step, as XLA's profiler names it.
TEST(HostRules, AThreadThatWaitsBeforeItsStepWaitsForInput) {
  const Findings waits =
      findings_of({summary_of_rank(0, {row(Signal::kStepStart, "$time sleep", 30)})});
  EXPECT_NE(find(waits, "input-bound"), nullptr);
  const Findings works =
      findings_of({summary_of_rank(0, {row(Signal::kStepStart, "$train.py:9 count", 30)})});
  EXPECT_EQ(find(works, "input-bound"), nullptr);
  EXPECT_NE(find(works, "host-busy"), nullptr);
}

TEST(HostRules, ARankOfCpusIsNoDevice) {
  RankSummary rank =
      summary_of_rank(2, {row(Signal::kData, "get_batch", 50), row(Signal::kDispatch, "", 5)});
  rank.has_device = false;
  const Findings findings = findings_of({rank});
  ASSERT_EQ(findings.found.size(), 1U);
  EXPECT_EQ(findings.found[0].cause,
            "the rank waits 50 ms a step (50.0 %) for get_batch, which takes 50 ms");
}

TEST(HostRules, WhatFunctionTheHostIsAtIsVerified) {
  const Findings findings =
      findings_of({summary_of_rank(0, {row(Signal::kHostCode, "train.py(7): forward", 40)})});
  ASSERT_NE(find(findings, "host-busy"), nullptr);
  EXPECT_EQ(find(findings, "host-busy")->status, Status::kVerified);
}

// 25 ms of functions, 10 of them hidden: as much of 35 ms of late launches is the recorder's.
TEST(HostRules, RecordedFunctionsTakeTheBlameForSlowLaunches) {
  SignalRow python = row(Signal::kPython, "", 15);
  python.time.add(10 * kMs);
  const Findings findings =
      findings_of({summary_of_rank(0, {row(Signal::kDispatch, "", 20), python})});
  ASSERT_NE(find(findings, "profiler-overhead"), nullptr);
  EXPECT_DOUBLE_EQ(find(findings, "profiler-overhead")->per_step / 1_ms, 25.0);
  EXPECT_EQ(find(findings, "profiler-overhead")->status, Status::kInferred);
  ASSERT_NE(find(findings, "launch-bound"), nullptr);
  EXPECT_DOUBLE_EQ(find(findings, "launch-bound")->per_step / 1_ms, 10.0);
  EXPECT_EQ(find(findings, "launch-bound")->explained_by, "profiler-overhead");
}

TEST(HostRules, AnAllocatorThatHasNoRoomIsNoChurn) {
  const Findings retried = findings_of({summary_of_rank(
      0, {row(Signal::kRetry, "cudaFree", 20), row(Signal::kAllocation, "cudaMalloc", 5)})});
  EXPECT_EQ(find(retried, "allocator-churn"), nullptr);
  ASSERT_NE(find(retried, "hbm-near-limit"), nullptr);
  EXPECT_DOUBLE_EQ(find(retried, "hbm-near-limit")->per_step / 1_ms, 25.0);
  // Where memory is given back everywhere there is no cache that could be full.
  SignalRow often = row(Signal::kAllocation, "cudaFree", 30);
  often.time.add(0);
  const Findings churned =
      findings_of({summary_of_rank(0, {often, row(Signal::kRetry, "cudaFree", 10)})});
  ASSERT_NE(find(churned, "allocator-churn"), nullptr);
  EXPECT_DOUBLE_EQ(find(churned, "allocator-churn")->per_step / 1_ms, 40.0);
}

TEST(HostRules, CopiesBesideAnUpdateOnTheHostAreItsOwn) {
  SignalRow in = row(Signal::kCopyIn, "aten::copy_", 0, 10);
  in.bytes = 1 << 30;
  SignalRow out = row(Signal::kCopyOut, "aten::to", 0, 10);
  out.bytes = 1 << 30;
  const Findings findings = findings_of(
      {summary_of_rank(0, {row(Signal::kHostUpdate, "Optimizer.step#AdamW.step", 30), in, out})});
  ASSERT_EQ(findings.found.size(), 1U);
  EXPECT_EQ(findings.found[0].rule, "optimizer-offload");
  EXPECT_DOUBLE_EQ(findings.found[0].per_step / 1_ms, 50.0);
  // Without one, much that goes to the host is kept there.
  EXPECT_NE(find(findings_of({summary_of_rank(0, {out})}), "checkpoint-stall"), nullptr);
}

TEST(HostRules, RanksThatLoseHalfOfTheMostAreNamed) {
  const auto data = [](std::int64_t ms) { return row(Signal::kData, "get_batch", ms); };
  const Findings findings =
      findings_of({summary_of_rank(0, {data(2)}), summary_of_rank(1, {data(50)}),
                   summary_of_rank(2, {data(30)})});
  const Finding* found = find(findings, "input-bound");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ranks, (std::vector<RankId>{{1}, {2}}));
  EXPECT_DOUBLE_EQ(found->per_step / 1_ms, 50.0);
  const Findings alike =
      findings_of({summary_of_rank(0, {data(50)}), summary_of_rank(1, {data(50)})});
  EXPECT_TRUE(find(alike, "input-bound")->ranks.empty());
}

TEST(HostRules, WhatWasNotRecordedIsSaid) {
  const Findings findings = findings_of({summary_of_rank(0, {})});
  ASSERT_EQ(findings.abstained.size(), 2U);
  EXPECT_EQ(findings.abstained[0].rule, "python-gc");
  EXPECT_EQ(findings.abstained[1].rule, "hbm-near-limit");
  RankSummary complete = summary_of_rank(0, {});
  complete.has_stacks = true;
  complete.has_memory = true;
  EXPECT_TRUE(findings_of({complete}).abstained.empty());
}

}  // namespace
}  // namespace sextant::diagnose
