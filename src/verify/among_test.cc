#include <gtest/gtest.h>

#include "verify/testing.h"

namespace sextant::verify {
namespace {

// The same mesh and batch under several models.
std::vector<search::Task> tasks_of(const std::vector<std::string>& models,
                                   const std::string& mesh = "ici:data=8,tensor=8") {
  std::vector<search::Task> tasks;
  for (const std::string& model : models) {
    tasks.push_back(task_of({.model = model,
                             .cluster = "v5p-128",
                             .layout = mesh + ";mbs=1,recompute=full",
                             .framework = describe::Framework::kMaxtext,
                             .global_batch = 128}));
  }
  return tasks;
}

AmongVerdict among(const Proposal& proposal, const std::vector<search::Task>& tasks,
                   const MeshFacts* facts = nullptr) {
  std::vector<Bench> benches;
  for (const search::Task& task : tasks) {
    benches.push_back(bench_of(task));
  }
  return judge_among(proposal, benches, facts);
}

const std::vector<search::Task>& three() {
  static const std::vector<search::Task> kTasks =
      tasks_of({"llama-3.1-8b", "llama-2-7b", "qwen3-8b"});
  return kTasks;
}

TEST(Among, WhatHoldsUnderMostHolds) {
  const AmongVerdict verdict =
      among(proposal_of("ici:data=32,tensor=2", {claim_of(kStep, kLower)}), three());
  ASSERT_EQ(verdict.each.size(), 3U);
  EXPECT_EQ(verdict.together.ruling, Ruling::kAccepted) << verdict.together.reason;
  const JudgedClaim& claim = verdict.together.claims[0];
  EXPECT_EQ(claim.ruling, ClaimRuling::kHolds);
  for (const Verdict& one : verdict.each) {
    EXPECT_LE(claim.interval.low, one.claims[0].interval.low);
    EXPECT_GE(claim.interval.high, one.claims[0].interval.high);
  }
  EXPECT_NE(claim.why.find("with "), std::string::npos);
}

TEST(Among, WhatEveryModelRefutesIsRejected) {
  const AmongVerdict verdict =
      among(proposal_of("ici:data=32,tensor=2", {claim_of(kStep, kHigher)}), three());
  EXPECT_EQ(verdict.together.ruling, Ruling::kRejected);
  EXPECT_EQ(verdict.together.ground, Ground::kClaims);
}

TEST(Among, LegalUnderSomeIsUndecidable) {
  // Of 32, 12 and 32 heads, 8 ranks divide the first and the last; 64 divide none.
  const std::vector<search::Task> tasks =
      tasks_of({"llama-3.1-8b", "gpt2", "llama-2-7b"}, "ici:data=16,tensor=4");
  const AmongVerdict some = among(proposal_of("ici:data=8,tensor=8"), tasks);
  EXPECT_EQ(some.together.ruling, Ruling::kUndecidable) << some.together.reason;
  EXPECT_EQ(some.together.ground, Ground::kRules);
  ASSERT_FALSE(some.together.missing.empty());
  EXPECT_NE(some.together.missing[0].find("gpt2"), std::string::npos) << some.together.missing[0];
  const AmongVerdict none = among(proposal_of("ici:tensor=64"), tasks);
  EXPECT_EQ(none.together.ruling, Ruling::kRejected) << none.together.reason;
}

TEST(Among, FittingUnderSomeIsUndecidable) {
  const std::vector<search::Task> tasks =
      tasks_of({"llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b"});
  const AmongVerdict some = among(proposal_of("ici:data=16,tensor=4"), tasks);
  EXPECT_EQ(some.together.ruling, Ruling::kUndecidable) << some.together.reason;
  EXPECT_EQ(some.together.ground, Ground::kMemory);
  EXPECT_FALSE(some.together.missing.empty());
}

TEST(Among, FactsOfTheMeshDecideMemory) {
  const MeshFacts facts{
      .chips = 64, .batch = 128, .runs = RunningMesh{.axes = {.data = 8, .tensor = 8}}};
  const Proposal weights_rise = proposal_of("ici:data=32,tensor=2", {claim_of(kStep, kLower)});
  const AmongVerdict unknown = among(weights_rise, three(), &facts);
  EXPECT_EQ(unknown.together.ruling, Ruling::kUndecidable);
  EXPECT_EQ(unknown.together.ground, Ground::kMemory);
  EXPECT_EQ(unknown.together.claims.size(), 1U) << "claims are shown all the same";
  const MeshFacts certain{
      .chips = 64, .batch = 128, .runs = RunningMesh{.axes = {.data = 32, .tensor = 1}}};
  EXPECT_EQ(among(weights_rise, three(), &certain).together.ruling, Ruling::kAccepted);
  const MeshFacts other{.chips = 128};
  EXPECT_EQ(among(weights_rise, three(), &other).together.ground, Ground::kDevices);
}

TEST(Among, OneModelIsItself) {
  const std::vector<search::Task> one = tasks_of({"llama-3.1-8b"});
  const Proposal proposal = proposal_of("ici:data=32,tensor=2", {claim_of(kStep, kLower)});
  const AmongVerdict verdict = among(proposal, one);
  EXPECT_EQ(verdict.together.ruling, judge(proposal, bench_of(one[0])).ruling);
  EXPECT_DOUBLE_EQ(verdict.together.claims[0].ratio, verdict.each[0].claims[0].ratio);
}

}  // namespace
}  // namespace sextant::verify
