// What is said of a job before any change is: known or not, predicted or recorded, and whose axis
// is to blame.
#include "agents/job_analysis.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "agents/job_blame.h"
#include "agents/testing.h"
#include "describe/layout/job_layout.h"
#include "describe/layout/layout_text.h"

namespace sextant::agents {
namespace {

ToolBench job_of(const std::string& layout, const std::string& cluster = "64xh100-sxm") {
  return {.task = verify::task_of({.model = "llama-3-8b",
                                   .cluster = cluster,
                                   .layout = layout,
                                   .global_batch = 128,
                                   .sequence = 4096})};
}

Standing standing_of(const ToolBench& bench) {
  Standing standing;
  standing.task = &bench.task;
  standing.job = bench.task.problem.job;
  standing.is_users = true;
  standing.estimate = step::whole_estimate(standing.job, bench.task.machine);
  return standing;
}

const Fact& fact_named(const Analysis& analysis, std::string_view key) {
  const auto found = std::ranges::find(analysis.experiment, key, &Fact::key);
  EXPECT_NE(found, analysis.experiment.end()) << key;
  return *found;
}

TEST(JobAnalysis, WhatNobodySaidIsUnknown) {
  const Analysis analysis = job_analysis({}, {});
  for (const Fact& fact : analysis.experiment) {
    EXPECT_TRUE(fact.value.empty()) << fact.key;
    EXPECT_TRUE(fact.source.empty()) << fact.key;
  }
  EXPECT_TRUE(analysis.kpis.empty());
  EXPECT_TRUE(analysis.operators.empty());
  EXPECT_NE(analysis.root_cause.find("not known"), std::string::npos);
  EXPECT_EQ(word_of(analysis.settled), "not known");
}

TEST(JobAnalysis, FactsOfTheUserStandBeforeThoseOfTheJob) {
  const ToolBench bench = job_of("tp=8,mbs=1,zero=1");
  JobCase asked = bench.asked();
  asked.experiment = {{"batch", "128", "train.sh:12"}};
  const Analysis analysis = job_analysis(asked, standing_of(bench));
  EXPECT_EQ(fact_named(analysis, "batch").source, "train.sh:12");
  EXPECT_EQ(fact_named(analysis, "mesh").value, "tp=8,dp=8");
  EXPECT_EQ(std::ranges::count(analysis.experiment, std::string("batch"), &Fact::key), 1);
}

// 16 tensor ranks cross nodes of 8: their exchanges are what the step waits for.
TEST(JobAnalysis, TensorRanksAcrossNodesAreToBlame) {
  const ToolBench bench = job_of("tp=16,mbs=1,zero=1");
  const Analysis analysis = job_analysis(bench.asked(), standing_of(bench));
  ASSERT_FALSE(analysis.axes.empty());
  EXPECT_EQ(analysis.axes.front(), kb::Theme::kTensor);
  EXPECT_EQ(analysis.settled.bottleneck, diagnose::Bottleneck::kCommunication);
  EXPECT_NE(analysis.root_cause.find("tp=16"), std::string::npos) << analysis.root_cause;
}

// Eight stages and eight microbatches: 7 / 15 of the step are bubble.
TEST(JobAnalysis, ABubbleIsThePipelines) {
  const ToolBench bench = job_of("tp=1,pp=8,mbs=2,zero=1");
  const Analysis analysis = job_analysis(bench.asked(), standing_of(bench));
  ASSERT_FALSE(analysis.axes.empty());
  EXPECT_EQ(analysis.axes.front(), kb::Theme::kPipeline);
  EXPECT_NE(analysis.root_cause.find("bubble"), std::string::npos) << analysis.root_cause;
}

TEST(JobAnalysis, WithoutARunEveryFigureSaysThatItIsPredicted) {
  const ToolBench bench = job_of("tp=8,mbs=1,zero=1");
  const Analysis analysis = job_analysis(bench.asked(), standing_of(bench));
  for (const Kpi& kpi : analysis.kpis) {
    EXPECT_TRUE(kpi.key.starts_with("predicted_")) << kpi.key;
  }
  ASSERT_FALSE(analysis.operators.empty());
  double shares = 0.0;
  for (const TopOperator& one : analysis.operators) {
    EXPECT_EQ(one.category, "predicted");
    shares += one.share;
  }
  EXPECT_NEAR(shares, 1.0, 1e-9);
}

TEST(JobAnalysis, AMeasuredStepIsHeldAgainstThePredictedOne) {
  const ToolBench bench = job_of("tp=8,mbs=1,zero=1");
  const Standing standing = standing_of(bench);
  JobCase asked = bench.asked();
  asked.measured_step = standing.estimate->step.step * 3.0;
  const Analysis analysis = job_analysis(asked, standing);
  EXPECT_TRUE(std::ranges::any_of(analysis.correlation, [](const std::string& line) {
    return line == "the measured step is x3.00 the predicted one, outside its interval";
  }));
}

TEST(JobAnalysis, OfManyOperatorsTheFiveLongestAreShown) {
  JobCase asked;
  asked.run.emplace();
  for (int i = 0; i < 9; ++i) {
    metrics::OperatorRoofline& one = asked.run->operators.emplace_back();
    one.name = i == 4 ? "ncclDevKernel_AllReduce" : "gemm";
    one.share = 0.01 * (i + 1);
  }
  const Analysis analysis = job_analysis(asked, {});
  ASSERT_EQ(analysis.operators.size(), 5U);
  EXPECT_DOUBLE_EQ(analysis.operators.front().share, 0.09);
  EXPECT_DOUBLE_EQ(analysis.operators.back().share, 0.05);
  EXPECT_TRUE(analysis.operators.back().is_collective);
}

TEST(JobBlame, EveryRuleOfTheBookSpeaksOfAPartOfTheJob) {
  for (const diagnose::Rule& rule : verify::known().advice.rules()) {
    EXPECT_TRUE(theme_of_rule(rule.id)) << rule.id;
  }
  EXPECT_EQ(theme_of_rule("exposed-tp"), kb::Theme::kTensor);
  EXPECT_FALSE(theme_of_rule("no-such-rule"));
}

TEST(JobStanding, WhatCpTakesOfASequenceAndMbsGivesBackIsOneMesh) {
  const auto layout = [](std::string_view words) {
    return describe::parse_layout(words, describe::Framework::kMegatronCore).value().layout;
  };
  EXPECT_TRUE(is_like_mesh(layout("tp=2,cp=2,mbs=2"), layout("tp=2,cp=1,mbs=1")));
  EXPECT_FALSE(is_like_mesh(layout("tp=2,cp=2,mbs=1"), layout("tp=2,cp=1,mbs=1")));
  EXPECT_TRUE(is_like_mesh(layout("tp=2,mbs=2"), layout("tp=2,mbs=1")));
  EXPECT_FALSE(is_like_mesh(layout("tp=2"), layout("tp=4")));
}

TEST(JobStanding, ChangedWordsLaidOverTheJobGiveTheLayout) {
  const ToolBench bench = job_of("tp=8,mbs=1,zero=1");
  describe::Job job = bench.task.problem.job;
  const auto after = describe::parse_layout("tp=2,pp=4,mbs=2,zero=1,recompute=full",
                                            describe::Framework::kMegatronCore);
  ASSERT_TRUE(after);
  const std::string words = changed_words(job, after->layout);
  EXPECT_EQ(changed_words(job, job.layout), "");
  ASSERT_TRUE(describe::lay_over(words, job)) << words;
  EXPECT_EQ(job.layout, after->layout) << words;
}

}  // namespace
}  // namespace sextant::agents
