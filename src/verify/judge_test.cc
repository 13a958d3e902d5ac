#include "verify/judge.h"

#include <gtest/gtest.h>

#include "describe/layout/layout_text.h"
#include "verify/testing.h"

namespace sextant::verify {
namespace {

// 70B in eight-way tensor and four-way pipeline parallelism, everything computed twice.
const search::Task& slow_task() {
  static const search::Task kTask = task_of({.model = "llama-3.1-70b",
                                             .cluster = "64xh100-sxm",
                                             .layout = "tp=8,pp=4,sp=1,mbs=1,zero=1,recompute=full",
                                             .global_batch = 256,
                                             .sequence = 8192});
  return kTask;
}

Verdict judged_slow(const Proposal& proposal) {
  return judge(proposal, bench_of(slow_task()));
}

TEST(Judge, WhatDoesNotParseOrChangesNothingIsRejected) {
  for (const char* layout : {"tp=x", "tq=4", "tp=8", "", "ici:tensor=0", "tp=8,pp=4,dp=2"}) {
    const Verdict verdict = judged_slow(proposal_of(layout));
    EXPECT_EQ(verdict.ruling, Ruling::kRejected) << layout;
    EXPECT_EQ(verdict.ground, Ground::kWords) << layout;
    EXPECT_FALSE(verdict.reason.empty());
  }
}

TEST(Judge, DevicesAreTheJobs) {
  Proposal proposal = proposal_of("tp=4,dp=7");
  Verdict verdict = judged_slow(proposal);
  EXPECT_EQ(verdict.ground, Ground::kDevices);
  EXPECT_EQ(verdict.reason, "tp=4 · cp=1 · pp=4 · dp=7 are 112 devices; the job has 64");
  proposal = proposal_of("tp=4");
  proposal.devices = 63;
  verdict = judged_slow(proposal);
  EXPECT_EQ(verdict.ruling, Ruling::kRejected);
  EXPECT_EQ(verdict.ground, Ground::kDevices);
  proposal.devices = 64;
  EXPECT_NE(judged_slow(proposal).ground, Ground::kDevices);
}

TEST(Judge, ARuleTheChangeBreaksIsNamed) {
  const Verdict verdict = judged_slow(proposal_of("vpp=3"));
  EXPECT_EQ(verdict.ruling, Ruling::kRejected);
  EXPECT_EQ(verdict.ground, Ground::kRules);
  ASSERT_FALSE(verdict.broken.empty());
  EXPECT_NE(verdict.reason.find(verdict.broken.front().rule), std::string::npos);
  EXPECT_FALSE(verdict.after);
}

TEST(Judge, WhatTheJobBreaksAlreadyIsNotTheChangesDoing) {
  // Four chunks a rank need an interleaved schedule: the job is not legal as it stands.
  const search::Task task = task_of({.model = "llama-3.1-70b",
                                     .cluster = "64xh100-sxm",
                                     .layout = "tp=8,pp=4,vpp=4,schedule=1f1b,mbs=1,zero=1",
                                     .global_batch = 256,
                                     .sequence = 8192});
  const Verdict same = judge(proposal_of("recompute=selective"), bench_of(task));
  EXPECT_TRUE(same.broken.empty());
  ASSERT_FALSE(same.broken_already.empty());
  EXPECT_EQ(same.ruling, Ruling::kUndecidable);
  EXPECT_FALSE(same.missing.empty());
  // One that mends it is legal; what it gains against a job that cannot run is not known.
  const Verdict mends =
      judge(proposal_of("schedule=interleaved-1f1b", {claim_of(kStep, kLower)}), bench_of(task));
  EXPECT_TRUE(mends.broken_already.empty());
  EXPECT_EQ(mends.ruling, Ruling::kUndecidable);
  EXPECT_EQ(judge(proposal_of("schedule=interleaved-1f1b"), bench_of(task)).ruling,
            Ruling::kAccepted);
}

TEST(Judge, MemoryIsAskedWithThePlannersHeadroom) {
  search::Task task = slow_task();
  const Proposal proposal = proposal_of("recompute=none");
  const Verdict fits = judge(proposal, bench_of(task));
  ASSERT_EQ(fits.ruling, Ruling::kAccepted);
  const Bytes need = fits.after->memory.fullest.device;
  const Bytes device = task.problem.job.cluster.device.usable_memory();
  // One GiB to spare, and one GiB too little.
  task.problem.headroom = 1.0 - (need + 1_GiB) / device;
  EXPECT_EQ(judge(proposal, bench_of(task)).ruling, Ruling::kAccepted);
  task.problem.headroom = 1.0 - (need - 1_GiB) / device;
  const Verdict verdict = judge(proposal, bench_of(task));
  EXPECT_EQ(verdict.ruling, Ruling::kRejected);
  EXPECT_EQ(verdict.ground, Ground::kMemory);
  ASSERT_TRUE(verdict.memory);
  EXPECT_NEAR(verdict.memory->missing() / 1_GiB, 1.0, 1e-6);
  EXPECT_NE(verdict.reason.find("MEMORY-FIT"), std::string::npos);
}

TEST(Judge, ARecordedRunFits) {
  search::Task task = slow_task();
  task.problem.headroom = 0.8;  // 16 GiB may be used; the job needs 30
  const diagnose::Diagnosis diagnosis = step_of(49_s);
  const Proposal less = proposal_of("zero=3");
  const Proposal more = proposal_of("recompute=none");
  EXPECT_EQ(judge(more, bench_of(task)).ground, Ground::kMemory);
  EXPECT_EQ(judge(more, bench_of(task, &diagnosis)).ground, Ground::kMemory);
  const Verdict runs = judge(less, bench_of(task, &diagnosis));
  EXPECT_NE(runs.ground, Ground::kMemory) << runs.reason;
}

TEST(Judge, AClaimIsHeldAgainstTheInterval) {
  const Verdict verdict = judged_slow(proposal_of("recompute=none", {claim_of(kStep, kLower)}));
  EXPECT_EQ(verdict.ruling, Ruling::kAccepted);
  ASSERT_TRUE(verdict.speed);
  EXPECT_GT(verdict.speed->low, 1.0);
  EXPECT_NEAR(verdict.claims[0].ratio, verdict.after->step.step / verdict.before->step.step, 1e-9);
  EXPECT_NE(verdict.reason.find("compute −"), std::string::npos) << verdict.reason;
  const Verdict contrary = judged_slow(proposal_of("recompute=none", {claim_of(kStep, kHigher)}));
  EXPECT_EQ(contrary.ruling, Ruling::kRejected);
  EXPECT_EQ(contrary.ground, Ground::kClaims);
}

TEST(Judge, ATwiceTooLargeSizeIsPutRight) {
  const double ratio =
      judged_slow(proposal_of("recompute=none", {claim_of(kStep, kLower)})).claims[0].ratio;
  const double twice = 2.0 * ratio - 1.0;
  const Verdict verdict =
      judged_slow(proposal_of("recompute=none", {sized_claim(kStep, kLower, twice, twice)}));
  EXPECT_EQ(verdict.ruling, Ruling::kCorrected);
  EXPECT_EQ(verdict.claims[0].ruling, ClaimRuling::kWrongSize);
  EXPECT_NEAR(verdict.claims[0].ratio, ratio, 1e-12);
}

TEST(Judge, WhatTheIntervalCannotTellIsUndecidable) {
  const Verdict verdict = judged_slow(proposal_of("pp=2", {claim_of(kStep, kLower)}));
  EXPECT_EQ(verdict.ruling, Ruling::kUndecidable);
  EXPECT_EQ(verdict.ground, Ground::kClaims);
  EXPECT_FALSE(verdict.missing.empty());
  // A claim beside one that holds is struck instead.
  const Verdict beside = judged_slow(proposal_of(
      "recompute=none", {claim_of(kStep, kLower), claim_of(step::Quantity::kBubbleShare, kLower)}));
  EXPECT_EQ(beside.ruling, Ruling::kCorrected);
}

TEST(Judge, FeasibilityStandsBeforeSpeed) {
  const Verdict fast = judged_slow(proposal_of("recompute=none", {claim_of(kStep, kLower)}));
  const Verdict slower = judged_slow(proposal_of("tp=4", {claim_of(kStep, kLower)}));
  const Verdict untold = judged_slow(proposal_of("pp=2", {claim_of(kStep, kLower)}));
  const Verdict illegal = judged_slow(proposal_of("vpp=3"));
  const std::vector<const Verdict*> order{&fast, &slower, &untold, &illegal};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = 0; j < order.size(); ++j) {
      EXPECT_EQ(stands_before(*order[i], *order[j]), i < j) << i << " " << j;
    }
  }
}

TEST(Judge, TheSameProposalGetsTheSameVerdict) {
  const Proposal proposal = proposal_of("recompute=none", {claim_of(kStep, kLower)});
  const Verdict one = judged_slow(proposal);
  const Verdict other = judged_slow(proposal);
  EXPECT_EQ(one.reason, other.reason);
  EXPECT_EQ(one.claims[0].why, other.claims[0].why);
}

TEST(Judge, AMeshOfAxesIsJudgedAsItsLayout) {
  const search::Task task = task_of({.model = "llama-3.1-8b",
                                     .cluster = "v5p-128",
                                     .layout = "ici:fsdp=8,tensor=8;mbs=1,recompute=full",
                                     .framework = describe::Framework::kMaxtext,
                                     .global_batch = 128,
                                     .sequence = 4096});
  const Verdict mesh = judge(proposal_of("ici:fsdp=64", {claim_of(kStep, kLower)}), bench_of(task));
  EXPECT_EQ(mesh.ruling, Ruling::kAccepted) << mesh.reason;
  ASSERT_TRUE(mesh.layout);
  EXPECT_EQ(mesh.layout->dp, 64);
  const Verdict half = judge(proposal_of("ici:fsdp=32"), bench_of(task));
  EXPECT_EQ(half.ground, Ground::kDevices);
}

}  // namespace
}  // namespace sextant::verify
