#include "verify/settings.h"

#include <gtest/gtest.h>

#include "verify/testing.h"

namespace sextant::verify {
namespace {

const search::Task& small_task() {
  static const search::Task kTask = task_of({.model = "llama-3.1-8b",
                                             .cluster = "8xh100-sxm",
                                             .layout = "tp=4,sp=1,zero=1,mbs=1",
                                             .global_batch = 64});
  return kTask;
}

// A step of 1 s that waits 0.2 s for data.
diagnose::Diagnosis waiting(diagnose::Status status = diagnose::Status::kVerified) {
  diagnose::Diagnosis diagnosis = step_of(1_s);
  diagnosis.findings = {
      {.rule = "input-bound", .cause = "waits", .per_step = 200_ms, .status = status}};
  diagnosis.abstentions = {{.rule = "python-gc", .missing = "stacks"}};
  return diagnosis;
}

Proposal workers(std::vector<Claim> claims = {}) {
  return {.change = {.setting = "--num-workers 8", .mends = "input-bound"},
          .claims = std::move(claims)};
}

Verdict judged(const Proposal& proposal, const diagnose::Diagnosis* diagnosis) {
  return judge(proposal, bench_of(small_task(), diagnosis));
}

TEST(Settings, WithoutAProfileNothingIsDecided) {
  const Verdict verdict = judged(workers({claim_of(kStep, kLower)}), nullptr);
  EXPECT_EQ(verdict.ruling, Ruling::kUndecidable);
  EXPECT_EQ(verdict.ground, Ground::kFinding);
  EXPECT_EQ(verdict.missing, std::vector<std::string>{"a profile of the run"});
}

TEST(Settings, TheFindingMustBeThere) {
  const diagnose::Diagnosis diagnosis = waiting();
  EXPECT_EQ(judged(workers(), &diagnosis).ruling, Ruling::kAccepted);
  Proposal other = workers();
  other.change.mends = "nccl-slow";
  EXPECT_EQ(judged(other, &diagnosis).ruling, Ruling::kRejected);
  other.change.mends = "python-gc";  // not asked: the profile has no stacks
  const Verdict unasked = judged(other, &diagnosis);
  EXPECT_EQ(unasked.ruling, Ruling::kUndecidable);
  EXPECT_EQ(unasked.missing, std::vector<std::string>{"a profile with stacks"});
  other.change.mends = "";
  EXPECT_EQ(judged(other, &diagnosis).ruling, Ruling::kUndecidable);
}

TEST(Settings, TheCeilingBoundsTheClaim) {
  const diagnose::Diagnosis diagnosis = waiting();
  const auto ruling = [&](const Claim& claim) {
    return judged(workers({claim}), &diagnosis).claims[0].ruling;
  };
  EXPECT_EQ(ruling(claim_of(kStep, kLower)), ClaimRuling::kHolds);
  EXPECT_EQ(ruling(sized_claim(kStep, kLower, 0.8, 0.9)), ClaimRuling::kHolds);
  EXPECT_EQ(ruling(sized_claim(kStep, kLower, 0.6, 0.79)), ClaimRuling::kWrongSize);
  EXPECT_EQ(ruling(claim_of(kStep, kHigher)), ClaimRuling::kRefuted);
  EXPECT_EQ(ruling(claim_of(step::Quantity::kMemory, kLower)), ClaimRuling::kCannotTell);
}

TEST(Settings, HowSureTheFindingIsIsSaid) {
  const diagnose::Diagnosis sure = waiting();
  EXPECT_NE(judged(workers(), &sure).reason.find("verified"), std::string::npos);
  const diagnose::Diagnosis guess = waiting(diagnose::Status::kUnverified);
  const Verdict verdict = judged(workers(), &guess);
  EXPECT_EQ(verdict.ruling, Ruling::kUndecidable);
  EXPECT_FALSE(verdict.missing.empty());
}

TEST(Settings, WhatIsExplainedByAnotherIsNotMended) {
  diagnose::Diagnosis diagnosis = waiting();
  diagnosis.findings[0].explained_by = "gc";
  EXPECT_EQ(judged(workers(), &diagnosis).ruling, Ruling::kRejected);
}

TEST(Settings, SomebodyMustSayThatItMends) {
  const diagnose::Diagnosis diagnosis = waiting();
  Proposal odd = workers();
  odd.change.setting = "--paint-it black";
  EXPECT_EQ(judged(odd, &diagnosis).ruling, Ruling::kUndecidable);
}

TEST(Settings, BesideALayoutItMayGainTheCeilingToo) {
  const diagnose::Diagnosis diagnosis = waiting();
  Proposal both = workers({claim_of(kStep, kLower)});
  both.change.layout = "tp=2";
  const Verdict with = judged(both, &diagnosis);
  both.change.setting = "";
  const Verdict without = judged(both, &diagnosis);
  EXPECT_NEAR(with.claims[0].interval.low, without.claims[0].interval.low * 0.8, 1e-9);
  EXPECT_EQ(with.claims[0].interval.high, without.claims[0].interval.high);
}

TEST(Settings, DevicesAreTheJobsHereToo) {
  const diagnose::Diagnosis diagnosis = waiting();
  Proposal proposal = workers();
  proposal.devices = 7;
  EXPECT_EQ(judged(proposal, &diagnosis).ground, Ground::kDevices);
}

}  // namespace
}  // namespace sextant::verify
