#include "verify/citations.h"

#include <gtest/gtest.h>

#include "verify/testing.h"

namespace sextant::verify {
namespace {

// An 8B model on 64 H100 in Megatron Core.
const search::Task& any_task() {
  static const search::Task kTask = task_of({.model = "llama-3.1-8b",
                                             .cluster = "64xh100-sxm",
                                             .layout = "tp=4,sp=1,zero=1,mbs=1",
                                             .global_batch = 512});
  return kTask;
}

// A citation of one entry, for a change of the job's tp or of what is said.
struct Asked {
  kb::Entry entry;
  std::optional<Claim> supports = claim_of(kStep, kLower);
  std::vector<ChangedKey> keys = {{"tp", "4", "1"}};
};
JudgedCitation asked(const Asked& what) {
  Bench bench = bench_of(any_task());
  bench.entries = {&what.entry, 1};
  const CitedChange change{any_task().problem.job, what.keys, ""};
  return judged_citation({Cited::kEntry, "it", what.supports}, change, bench);
}

kb::Entry practice() {
  return {.id = "it",
          .title = "Fewer tensor ranks",
          .source = "somebody",
          .before = "tp=4",
          .after = "tp=1,zero=1",
          .expects = "step lower"};
}

TEST(Citations, AnEntryThatSaysItStands) {
  EXPECT_TRUE(asked({practice()}).stands);
  EXPECT_TRUE(asked({practice(), claim_of(step::Quantity::kTokenTime, kLower)}).stands);
  EXPECT_TRUE(asked({practice(), std::nullopt}).stands);
}

TEST(Citations, OneThatDoesNotExistIsStruck) {
  const Bench bench = bench_of(any_task());
  const CitedChange change{any_task().problem.job, {{"tp", "4", "1"}}, ""};
  const JudgedCitation judged =
      judged_citation({Cited::kEntry, "data-before-tensors"}, change, bench);
  EXPECT_FALSE(judged.stands);
  EXPECT_NE(judged.why.find("did you mean data-before-tensor"), std::string::npos) << judged.why;
  EXPECT_TRUE(judged_citation({Cited::kEntry, "data-before-tensor"}, change, bench).stands);
}

TEST(Citations, AnotherDirectionOrQuantityIsStruck) {
  EXPECT_FALSE(asked({practice(), claim_of(kStep, kHigher)}).stands);
  EXPECT_FALSE(asked({practice(), claim_of(step::Quantity::kMemory, kLower)}).stands);
}

TEST(Citations, AnotherChangeIsStruck) {
  const JudgedCitation judged =
      asked({practice(), claim_of(kStep, kLower), {{"recompute", "full", "none"}}});
  EXPECT_FALSE(judged.stands);
  EXPECT_NE(judged.why.find("another change"), std::string::npos);
}

TEST(Citations, TheContraryChangeDoesTheContrary) {
  const std::vector<ChangedKey> more{{"tp", "1", "4"}};
  EXPECT_FALSE(asked({practice(), claim_of(kStep, kLower), more}).stands);
  EXPECT_TRUE(asked({practice(), claim_of(kStep, kHigher), more}).stands);
  EXPECT_FALSE(asked({practice(), std::nullopt, more}).stands);
}

TEST(Citations, OnlyTheAfterIsNamed) {
  kb::Entry entry = practice();
  entry.before = "";
  entry.after = "tp=1";
  EXPECT_TRUE(asked({entry, claim_of(kStep, kLower), {{"tp", "4", "2"}}}).stands);
  EXPECT_FALSE(asked({entry, claim_of(kStep, kLower), {{"tp", "4", "8"}}}).stands);
}

TEST(Citations, WordsHaveAnOrderToo) {
  kb::Entry entry = practice();
  entry.before = "recompute=full";
  entry.after = "recompute=selective:core_attn";
  EXPECT_TRUE(asked({entry, claim_of(kStep, kLower), {{"recompute", "full", "none"}}}).stands);
  EXPECT_FALSE(asked({entry, claim_of(kStep, kLower), {{"recompute", "none", "full"}}}).stands);
  entry.before = "dispatcher=alltoall";
  entry.after = "dispatcher=deepep";
  EXPECT_TRUE(
      asked({entry, claim_of(kStep, kLower), {{"dispatcher", "alltoall", "deepep"}}}).stands);
  EXPECT_FALSE(
      asked({entry, claim_of(kStep, kLower), {{"dispatcher", "deepep", "alltoall"}}}).stands);
}

TEST(Citations, AWarningSupportsTheContrary) {
  kb::Entry warning = practice();
  warning.do_not = true;
  warning.before = "tp=1";
  warning.after = "tp=4";
  warning.expects = "step higher";
  EXPECT_TRUE(asked({warning}).stands);
  EXPECT_TRUE(asked({warning, std::nullopt}).stands);
  const std::vector<ChangedKey> more{{"tp", "1", "4"}};
  EXPECT_FALSE(asked({warning, claim_of(kStep, kLower), more}).stands);
  EXPECT_FALSE(asked({warning, std::nullopt, more}).stands);
  EXPECT_TRUE(asked({warning, claim_of(kStep, kHigher), more}).stands);
}

TEST(Citations, AMeasuredWinSupportsAndALossDoesNot) {
  kb::Entry win = practice();
  win.kind = kb::EntryKind::kWin;
  win.expects = "";
  win.measured = {.metric = "tokens_per_s", .effect_percent = 12.0};
  EXPECT_TRUE(asked({win}).stands);
  win.measured.effect_percent = -12.0;
  EXPECT_FALSE(asked({win}).stands);
  EXPECT_FALSE(asked({win, std::nullopt}).stands);
  EXPECT_TRUE(asked({win, claim_of(kStep, kHigher)}).stands);
  win.measured = {};
  EXPECT_FALSE(asked({win}).stands) << "nothing was measured";
}

TEST(Citations, WhatIsOfAnotherMachineOrFrameworkIsStruck) {
  kb::Entry entry = practice();
  entry.about.devices = {"tpu-v5p", "tpu"};
  EXPECT_FALSE(asked({entry}).stands);
  entry.about.devices = {"tpu", "gpu"};
  EXPECT_TRUE(asked({entry}).stands);
  entry.about.devices = {"a100-sxm4-80gb"};
  EXPECT_TRUE(asked({entry}).stands);
  entry.about.frameworks = {describe::Framework::kTorchtitan};
  EXPECT_FALSE(asked({entry}).stands);
  entry.about.frameworks = {};
  entry.about.models = {kb::ModelClass::kExperts};
  EXPECT_FALSE(asked({entry}).stands);
}

TEST(Citations, FindingsAreThisRuns) {
  const CitedChange change{any_task().problem.job, {{"tp", "4", "1"}}, ""};
  diagnose::Diagnosis diagnosis = step_of(1_s);
  diagnosis.findings = {{.rule = "input-bound", .cause = "loader", .per_step = 100_ms},
                        {.rule = "late", .cause = "x", .explained_by = "input-bound"}};
  const Bench bench = bench_of(any_task(), &diagnosis);
  EXPECT_TRUE(judged_citation({Cited::kFinding, "input-bound"}, change, bench).stands);
  EXPECT_FALSE(judged_citation({Cited::kFinding, "late"}, change, bench).stands);
  EXPECT_FALSE(judged_citation({Cited::kFinding, "nothing-such"}, change, bench).stands);
  EXPECT_FALSE(
      judged_citation({Cited::kFinding, "input-bound", claim_of(kStep, kHigher)}, change, bench)
          .stands);
  EXPECT_FALSE(
      judged_citation({Cited::kFinding, "input-bound"}, change, bench_of(any_task())).stands);
}

TEST(Citations, RulesStandInTheBookAndTheModelInItself) {
  const CitedChange change{any_task().problem.job, {{"tp", "4", "1"}}, ""};
  const Bench bench = bench_of(any_task());
  EXPECT_TRUE(judged_citation({Cited::kRule, "HEADS-TP"}, change, bench).stands);
  EXPECT_FALSE(judged_citation({Cited::kRule, "HEADS-TPX"}, change, bench).stands);
  EXPECT_TRUE(judged_citation({Cited::kModel, ""}, change, bench).stands);
}

TEST(Citations, ChangedKeysAreThoseThatDiffer) {
  describe::Job after = any_task().problem.job;
  after.layout.tp = 8;
  const std::vector<ChangedKey> keys = changed_keys(any_task().problem.job, after);
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].key, "tp");
  EXPECT_EQ(keys[1].key, "dp");
  EXPECT_EQ(keys[1].before, "16");
  EXPECT_EQ(keys[1].after, "8");
}

}  // namespace
}  // namespace sextant::verify
