// The reasoner on jobs whose model is known: what it proposes, what it turns down, and when it says
// that a job should stay as it is.
#include "agents/tune_job.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "agents/proposal_text.h"
#include "agents/testing.h"
#include "describe/layout/job_layout.h"

namespace sextant::agents {
namespace {

using verify::Ruling;

// A small job whose planner has little to look at: everything but mesh, micro-batch and
// recomputation is pinned.
ToolBench small_job(const std::string& layout) {
  ToolBench bench{.task = verify::task_of({.model = "llama-3.2-1b",
                                           .cluster = "8xh100-sxm",
                                           .layout = layout,
                                           .global_batch = 64,
                                           .sequence = 4096})};
  bench.task.problem.fixed = {"cp",    "cp_method",       "etp",  "sp",  "dispatcher", "zero_group",
                              "order", "overlap",         "zero", "vpp", "schedule",   "reshard",
                              "split", "layers_per_stage"};
  return bench;
}

// Full recomputation that nothing needs, and tensor parallelism of a model that fits on a device.
ToolBench slow_job() {
  return small_job("tp=8,mbs=1,recompute=full,zero=1");
}

std::string words_of_report(const Report& report) {
  std::string text;
  for (const auto* list : {&report.proposals, &report.turned_down}) {
    for (const Judged& one : *list) {
      text += one.mesh + "|" + one.layout + "|" + one.impact.step + "|" + one.impact.memory + "\n" +
              proposal_text(one.proposal) + verdict_text(one.verdict);
    }
  }
  return text + report.keep.value_or("-") + report.fewer.value_or("-") + report.analysis.root_cause;
}

TEST(TuneJob, ASlowLayoutGetsFasterOnesThatAreLegalAndFit) {
  ToolBench bench = slow_job();
  const Report report = tuned(bench.asked(), bench.all());
  ASSERT_FALSE(report.proposals.empty());
  EXPECT_LE(report.proposals.size(), kProposals);
  EXPECT_FALSE(report.keep);
  for (const Judged& one : report.proposals) {
    EXPECT_TRUE(one.verdict.stands()) << one.proposal.title << ": " << one.verdict.reason;
    EXPECT_GT(one.verdict.speed.value().speed, 1.0);
    EXPECT_FALSE(one.mesh.empty());
    EXPECT_FALSE(one.proposal.reasoning.bottleneck.empty());
    EXPECT_FALSE(one.proposal.reasoning.memory.empty());
    EXPECT_FALSE(one.proposal.reasoning.comparison.empty());
    EXPECT_FALSE(one.impact.step.empty());
    for (const verify::JudgedCitation& cited : one.verdict.citations) {
      EXPECT_TRUE(cited.stands) << cited.why;
    }
  }
}

TEST(TuneJob, ProposalsStandInTheJudgesOrderAndDifferFromEachOther) {
  ToolBench bench = slow_job();
  const Report report = tuned(bench.asked(), bench.all());
  ASSERT_GE(report.proposals.size(), 2U);
  std::set<std::string> layouts;
  for (std::size_t i = 0; i < report.proposals.size(); ++i) {
    EXPECT_TRUE(layouts.insert(report.proposals[i].layout).second);
    if (i > 0) {
      EXPECT_FALSE(
          verify::stands_before(report.proposals[i].verdict, report.proposals[i - 1].verdict));
    }
  }
}

TEST(TuneJob, ThePlannersOwnLayoutIsKept) {
  ToolBench bench = slow_job();
  const std::vector<search::PlanRow> rows = bench.planned(1);
  ASSERT_FALSE(rows.empty());
  bench.task.problem.job.layout = rows.front().layout;
  const Report report = tuned(bench.asked(), bench.all());
  EXPECT_TRUE(report.keep);
  EXPECT_TRUE(report.fewer);
  for (const Judged& one : report.proposals) {
    EXPECT_FALSE(one.verdict.stands()) << one.proposal.title << ": " << one.verdict.reason;
  }
}

TEST(TuneJob, WithoutALayoutThatRunsThePlannersFirstLeads) {
  ToolBench bench = slow_job();
  const std::vector<search::PlanRow> rows = bench.planned(1);
  JobCase asked = bench.asked();
  asked.users.reset();
  const Report report = tuned(asked, bench.all());
  ASSERT_GE(report.proposals.size(), 2U);
  EXPECT_EQ(report.proposals.front().layout, rows.front().words);
  EXPECT_EQ(report.proposals.front().verdict.ruling, Ruling::kAccepted);
  EXPECT_FALSE(report.proposals.front().verdict.speed);
  EXPECT_LE(report.proposals[1].verdict.speed.value().speed, 1.0);
  EXPECT_FALSE(report.keep);
}

TEST(TuneJob, OfGivenLayoutsOnlyTheseAreProposed) {
  ToolBench bench = slow_job();
  bench.task.problem.fixed.clear();
  JobCase asked = bench.asked();
  asked.among = {"tp=2,mbs=1,recompute=full,zero=1", "tp=8,mbs=1,recompute=full,zero=1",
                 "tp=1,mbs=2,zero=1", "tp=3,mbs=1,zero=1", "tp=eight"};
  const Report report = tuned(asked, bench.all());
  ASSERT_EQ(report.proposals.size(), 2U);
  EXPECT_EQ(report.proposals.front().mesh, "dp=8");
  EXPECT_EQ(report.proposals.back().mesh, "tp=2,dp=4");
  ASSERT_EQ(report.turned_down.size(), 2U);  // no such mesh, and no such word
  for (const Judged& one : report.turned_down) {
    EXPECT_EQ(one.verdict.ruling, Ruling::kRejected);
  }
}

TEST(TuneJob, OfGivenLayoutsOfAJobThatDoesNotRunTheShortestStepLeads) {
  ToolBench bench = slow_job();
  bench.task.problem.fixed.clear();
  JobCase asked = bench.asked();
  asked.users.reset();
  asked.among = {"tp=4,mbs=1,recompute=full,zero=1", "tp=1,mbs=2,zero=1", "tp=2,mbs=1,zero=1"};
  const Report report = tuned(asked, bench.all());
  ASSERT_EQ(report.proposals.size(), 3U);
  EXPECT_EQ(report.proposals[0].mesh, "dp=8");
  EXPECT_EQ(report.proposals[1].mesh, "tp=2,dp=4");
  for (const Judged& one : report.proposals) {
    EXPECT_EQ(one.verdict.ruling, Ruling::kAccepted);
    EXPECT_EQ(one.impact.step, "nothing to compare it with");
  }
  EXPECT_FALSE(report.keep);
}

TEST(TuneJob, WhatChangesTheSameOnTheJobsMeshIsOneIdea) {
  ToolBench bench = small_job("tp=2,mbs=1,recompute=full,zero=1");
  JobCase asked = bench.asked();
  Tools tools = bench.judging();
  tools.plan = [&bench](std::size_t) -> Result<std::vector<search::PlanRow>> {
    std::vector<search::PlanRow> rows;
    for (const char* words :
         {"tp=2,sp=1,recompute=none,zero=1", "tp=2,sp=1,mbs=2,recompute=none,zero=1",
          "tp=1,mbs=1,recompute=none,zero=1"}) {
      describe::Job job = bench.task.problem.job;
      EXPECT_TRUE(describe::set_layout(words, job));
      rows.push_back(search::plan_row(bench.task, job.layout));
    }
    return rows;
  };
  const Report report = tuned(asked, tools);
  ASSERT_EQ(report.proposals.size(), 2U);  // recomputation twice
  EXPECT_NE(report.proposals[0].mesh, report.proposals[1].mesh);
}

TEST(TuneJob, AnIdeaThatDoesNotFitIsTurnedDownWithItsTerm) {
  ToolBench bench{.task = verify::task_of({.model = "llama-3-70b",
                                           .cluster = "64xh100-sxm",
                                           .layout = "tp=8,pp=4,mbs=1,recompute=full,zero=1",
                                           .global_batch = 64,
                                           .sequence = 4096})};
  JobCase asked = bench.asked();
  asked.ideas = {{.title = "all of it on each device", .change = {.layout = "tp=1,pp=1"}}};
  const Report report = tuned(asked, bench.judging());
  EXPECT_TRUE(report.proposals.empty());
  ASSERT_EQ(report.turned_down.size(), 1U);
  EXPECT_EQ(report.turned_down.front().verdict.ground, verify::Ground::kMemory);
  EXPECT_EQ(report.turned_down.front().proposal.author, "user");
}

TEST(TuneJob, ASoundIdeaThatThreeOthersBeatIsNotTurnedDown) {
  ToolBench bench = slow_job();
  JobCase asked = bench.asked();
  for (const char* words :
       {"recompute=none", "tp=4,recompute=none", "tp=2,recompute=none", "tp=1,recompute=none"}) {
    asked.ideas.push_back({.change = {.layout = words}});
  }
  const Report report = tuned(asked, bench.judging());
  EXPECT_EQ(report.proposals.size(), 3U);
  EXPECT_TRUE(report.turned_down.empty());
  ASSERT_EQ(report.ideas.size(), 1U);
  EXPECT_TRUE(report.ideas.front().verdict.stands());
  EXPECT_EQ(report.ideas.front().proposal.author, "user");
}

TEST(TuneJob, ATitleIsALineThatCountsWhatItLeavesOut) {
  ToolBench bench = small_job("tp=2,mbs=1,recompute=full,zero=1");
  JobCase asked = bench.asked();
  Tools tools = bench.judging();
  tools.plan = [&bench](std::size_t) -> Result<std::vector<search::PlanRow>> {
    describe::Job job = bench.task.problem.job;
    EXPECT_TRUE(describe::set_layout(
        "tp=1,mbs=2,recompute=none,zero=1,overlap=grad_reduce+param_gather", job));
    return std::vector{search::plan_row(bench.task, job.layout)};
  };
  const Report report = tuned(asked, tools);
  ASSERT_EQ(report.proposals.size(), 1U);
  const std::string& title = report.proposals.front().proposal.title;
  EXPECT_LE(title.size(), 96U) << title;
  EXPECT_TRUE(title.starts_with("tp 2 -> 1, ")) << title;
  EXPECT_NE(title.find(", and "), std::string::npos) << title;
  EXPECT_TRUE(title.ends_with(" more")) << title;
}

TEST(TuneJob, AnIdeaThatChangesWhatIsPinnedIsTurnedDownForIt) {
  ToolBench bench = slow_job();
  bench.task.problem.fixed.emplace_back("tp");
  JobCase asked = bench.asked();
  asked.ideas = {{.title = "no tensor parallelism", .change = {.layout = "tp=1"}}};
  const Report report = tuned(asked, bench.all());
  ASSERT_FALSE(report.turned_down.empty());
  EXPECT_NE(report.turned_down.back().verdict.reason.find("pinned"), std::string::npos);
  for (const Judged& one : report.proposals) {
    EXPECT_EQ(one.verdict.layout.value().tp, 8) << one.proposal.title;
  }
}

TEST(TuneJob, WhatIsPinnedNeedNotBeWhatRuns) {
  ToolBench bench = slow_job();
  JobCase asked = bench.asked();
  asked.users = bench.task.problem.job.layout;
  bench.task.problem.job.layout.tp = 4;
  bench.task.problem.fixed.emplace_back("tp");
  asked.ideas = {{.title = "tp as it runs", .change = {.layout = "mbs=2"}}};
  const Report report = tuned(asked, bench.judging());
  for (const Judged& one : report.proposals) {
    EXPECT_EQ(one.verdict.layout.value().tp, 4) << one.proposal.title;
  }
  ASSERT_FALSE(report.turned_down.empty());
  EXPECT_NE(report.turned_down.back().verdict.reason.find("'tp' is pinned"), std::string::npos);
}

TEST(TuneJob, AGoodIdeaStandsAmongTheProposals) {
  ToolBench bench = slow_job();
  JobCase asked = bench.asked();
  asked.ideas = {{.change = {.layout = "recompute=none"}}};
  const Report report = tuned(asked, bench.judging());
  ASSERT_EQ(report.proposals.size(), 1U);
  EXPECT_EQ(report.proposals.front().proposal.author, "user");
  EXPECT_TRUE(report.proposals.front().verdict.stands());
}

TEST(TuneJob, WhatTheKnowledgeBaseSaysIsCitedAndStands) {
  ToolBench bench = slow_job();
  Tools tools = bench.judging();
  ToolBench::add_knowledge(tools);
  const Report report = tuned(bench.asked(), tools);
  ASSERT_FALSE(report.proposals.empty());
  for (const Judged& one : report.proposals) {
    EXPECT_TRUE(std::ranges::any_of(one.proposal.citations, [](const verify::Citation& cited) {
      return cited.kind == verify::Cited::kEntry;
    })) << one.proposal.title;
  }
}

TEST(TuneJob, EveryProposalOfTheLogReadsBackAndHasItsVerdict) {
  ToolBench bench = slow_job();
  const Report report = tuned(bench.asked(), bench.all());
  std::set<std::string> logged;
  for (std::size_t i = 0; i < bench.notes.size(); ++i) {
    const auto& [kind, text] = bench.notes[i];
    if (kind != kb::EventKind::kProposal) {
      continue;
    }
    const auto read = parse_proposal(text, "the log");
    ASSERT_TRUE(read) << to_text(read.error());
    ASSERT_LT(i + 1, bench.notes.size());
    EXPECT_EQ(bench.notes[i + 1].first, kb::EventKind::kVerdict);
    EXPECT_TRUE(parse_ruling(bench.notes[i + 1].second, "the log"));
    logged.insert(text);
  }
  for (const Judged& one : report.proposals) {
    EXPECT_TRUE(logged.contains(proposal_text(one.proposal))) << one.proposal.title;
  }
}

TEST(TuneJob, TheSameInputGivesTheSameBytes) {
  ToolBench one = slow_job();
  ToolBench other = slow_job();
  EXPECT_EQ(words_of_report(tuned(one.asked(), one.all())),
            words_of_report(tuned(other.asked(), other.all())));
  EXPECT_EQ(one.notes, other.notes);
}

// --- A run beside the job, or alone -----------------------------------------------------------

diagnose::Diagnosis input_bound() {
  diagnose::Diagnosis diagnosis = verify::step_of(1_s);
  diagnosis.bottleneck = {diagnose::Bottleneck::kStall, {}, "idle for 30 % of the step"};
  diagnosis.findings.push_back({.rule = "input-bound",
                                .cause = "the device waits 300 ms a step for data",
                                .per_step = 300_ms,
                                .status = diagnose::Status::kVerified});
  return diagnosis;
}

TEST(TuneJob, ARunThatNobodyDescribedGetsSettingsAndNoLayout) {
  const diagnose::Diagnosis diagnosis = input_bound();
  JobCase asked;
  asked.run = RecordedRun{.diagnosis = &diagnosis, .book = &verify::known().advice};
  const Report report = tuned(asked, {});
  ASSERT_EQ(report.proposals.size(), 1U);
  const Judged& mend = report.proposals.front();
  EXPECT_EQ(mend.proposal.change.mends, "input-bound");
  EXPECT_TRUE(mend.proposal.change.layout.empty());
  EXPECT_EQ(mend.verdict.ruling, Ruling::kAccepted) << mend.verdict.reason;
  EXPECT_EQ(mend.impact.step, "at most 30 % lower");
  EXPECT_EQ(report.analysis.settled.bottleneck, diagnose::Bottleneck::kStall);
  EXPECT_EQ(report.analysis.axes, std::vector<kb::Theme>{kb::Theme::kHost});
  EXPECT_TRUE(report.fewer);
  const auto model = std::ranges::find(report.analysis.experiment, "model", &Fact::key);
  ASSERT_NE(model, report.analysis.experiment.end());
  EXPECT_TRUE(model->value.empty());
}

TEST(TuneJob, ARunWithoutFindingsHasNothingToPropose) {
  const diagnose::Diagnosis diagnosis = verify::step_of(1_s);
  JobCase asked;
  asked.run = RecordedRun{.diagnosis = &diagnosis, .book = &verify::known().advice};
  const Report report = tuned(asked, {});
  EXPECT_TRUE(report.proposals.empty());
  EXPECT_NE(report.fewer.value_or("").find("no model is known"), std::string::npos);
}

// Stacks would say what the host does; no step is shorter for them.
TEST(TuneJob, ToRecordMoreIsNoProposal) {
  diagnose::Diagnosis diagnosis = verify::step_of(1_s);
  diagnosis.findings.push_back({.rule = "host-busy", .cause = "", .per_step = 300_ms});
  JobCase asked;
  asked.run = RecordedRun{.diagnosis = &diagnosis, .book = &verify::known().advice};
  const Report report = tuned(asked, {});
  EXPECT_TRUE(report.proposals.empty());
  EXPECT_NE(report.fewer.value_or("").find("no finding that a known setting mends"),
            std::string::npos);
}

// Nobody said which framework it is: plain PyTorch's words are taken.
TEST(TuneJob, NeedlessRecomputationIsMendedWithoutAFramework) {
  diagnose::Diagnosis diagnosis = verify::step_of(1_s);
  diagnosis.findings.push_back({.rule = "needless-recompute", .cause = "", .per_step = 300_ms});
  JobCase asked;
  asked.run = RecordedRun{.diagnosis = &diagnosis, .book = &verify::known().advice};
  const Report report = tuned(asked, {});
  ASSERT_EQ(report.proposals.size(), 1U);
  EXPECT_EQ(report.proposals.front().proposal.change.mends, "needless-recompute");
  EXPECT_TRUE(report.proposals.front().verdict.stands());
}

TEST(TuneJob, ALayoutCannotBeToldWithoutAModel) {
  const diagnose::Diagnosis diagnosis = input_bound();
  JobCase asked;
  asked.run = RecordedRun{.diagnosis = &diagnosis, .book = &verify::known().advice};
  asked.ideas = {{.title = "less tensor parallelism", .change = {.layout = "tp=4"}}};
  const Report report = tuned(asked, {});
  const auto idea = std::ranges::find(report.proposals, "user",
                                      [](const Judged& one) { return one.proposal.author; });
  ASSERT_NE(idea, report.proposals.end());
  EXPECT_EQ(idea->verdict.ruling, Ruling::kUndecidable);
  EXPECT_FALSE(idea->verdict.missing.empty());
}

TEST(TuneJob, AFindingOfTheRunIsMendedInTheWordsOfTheJobsFramework) {
  ToolBench bench = slow_job();
  bench.diagnosis = input_bound();
  bench.has_run = true;
  JobCase asked = bench.asked();
  asked.run = RecordedRun{.diagnosis = &bench.diagnosis, .book = &verify::known().advice};
  const Report report = tuned(asked, bench.judging());
  ASSERT_EQ(report.proposals.size(), 1U);
  EXPECT_EQ(report.proposals.front().proposal.change.setting, "--num-workers 4");
  EXPECT_TRUE(report.proposals.front().verdict.stands());
}

TEST(TuneJob, LayoutsDoNotCrowdOutWhatMendsTheRun) {
  ToolBench bench = slow_job();
  bench.diagnosis = input_bound();
  bench.has_run = true;
  JobCase asked = bench.asked();
  asked.run = RecordedRun{.diagnosis = &bench.diagnosis, .book = &verify::known().advice};
  asked.among = {"tp=4,mbs=1,recompute=full,zero=1", "tp=1,mbs=2,zero=1", "tp=2,mbs=1,zero=1"};
  bench.task.problem.fixed.clear();
  const Report report = tuned(asked, bench.judging());
  ASSERT_EQ(report.proposals.size(), kProposals);
  EXPECT_EQ(report.proposals.front().mesh, "dp=8");
  EXPECT_EQ(report.proposals.back().proposal.change.mends, "input-bound");
}

// What the key figures hide the findings show.
TEST(TuneJob, FindingsOverturnWhatTheKeyFiguresSay) {
  diagnose::Diagnosis diagnosis = input_bound();
  diagnosis.bottleneck.bottleneck = diagnose::Bottleneck::kCommunication;
  JobCase asked;
  asked.run = RecordedRun{.diagnosis = &diagnosis, .book = &verify::known().advice};
  asked.run->kpis.emplace().step = 1_s;
  asked.run->kpis->duty_cycle = 0.99;
  const Report report = tuned(asked, {});
  EXPECT_EQ(report.analysis.initial.bottleneck, diagnose::Bottleneck::kCompute);
  EXPECT_EQ(report.analysis.settled.bottleneck, diagnose::Bottleneck::kCommunication);
  EXPECT_TRUE(report.analysis.overturned);
}

TEST(TuneJob, AFailingToolIsAnError) {
  ToolBench bench = slow_job();
  Tools tools = bench.judging();
  tools.plan = [](std::size_t) -> Result<std::vector<search::PlanRow>> {
    return external("the planner is out");
  };
  const auto report = tune_job(bench.asked(), tools);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().what, "the planner is out");
}

}  // namespace
}  // namespace sextant::agents
