#include "describe/layout/job_layout.h"

#include <gtest/gtest.h>

namespace sextant::describe {
namespace {

Job job_of(std::string_view text, Framework framework = Framework::kMegatronCore) {
  Job job;
  job.framework = framework;
  job.cluster.devices = 64;
  const auto set = set_layout(text, job);
  EXPECT_TRUE(set) << text;
  return job;
}

TEST(JobLayout, AMeshStandsBeforeTheKeys) {
  const LayoutWords words = split_layout("ici:fsdp=64,tensor=4;dcn:data=2;mbs=1,recompute=full");
  EXPECT_EQ(words.mesh, "ici:fsdp=64,tensor=4;dcn:data=2");
  EXPECT_EQ(words.keys, "mbs=1,recompute=full");
  EXPECT_EQ(split_layout("tp=8").mesh, "");
}

TEST(JobLayout, WordsAndDefaultsMakeALayout) {
  const Job job = job_of("ici:fsdp=16,tensor=4;mbs=2", Framework::kMaxtext);
  EXPECT_EQ(job.layout.tp, 4);
  EXPECT_EQ(job.layout.dp, 16);
  EXPECT_EQ(job.layout.mbs, 2);
  EXPECT_TRUE(job.states("mbs"));
}

TEST(JobLayout, WhatTheWordsDoNotNameStays) {
  Job job = job_of("tp=4,pp=2,mbs=2,recompute=full");
  ASSERT_TRUE(lay_over("mbs=1", job));
  EXPECT_EQ(job.layout, job_of("tp=4,pp=2,mbs=1,recompute=full").layout);
}

TEST(JobLayout, ReplicasAreWhatIsLeftUnlessSomebodyNamesThem) {
  Job job = job_of("tp=4,pp=2,dp=8");
  ASSERT_TRUE(lay_over("mbs=2", job));
  EXPECT_EQ(job.layout.dp, 8);
  ASSERT_TRUE(lay_over("tp=8", job));
  EXPECT_EQ(job.layout.dp, 0);
  EXPECT_EQ(job.dp(), 4);
  ASSERT_TRUE(lay_over("tp=2,dp=8", job));
  EXPECT_EQ(job.layout.dp, 8);
}

TEST(JobLayout, TheUsualScheduleFollowsItsChunks) {
  Job job = job_of("tp=4,pp=4");
  ASSERT_TRUE(lay_over("vpp=2", job));
  EXPECT_EQ(job.layout.schedule, Schedule::kInterleaved1f1b);
  ASSERT_TRUE(lay_over("vpp=1", job));
  EXPECT_EQ(job.layout.schedule, Schedule::k1f1b);
  ASSERT_TRUE(lay_over("vpp=2,schedule=looped-bfs", job));
  ASSERT_TRUE(lay_over("vpp=4", job));
  EXPECT_EQ(job.layout.schedule, Schedule::kLoopedBfs) << "an unusual one stays";
}

TEST(JobLayout, AMeshNamesAllItsAxes) {
  Job job = job_of("ici:fsdp=16,tensor=4", Framework::kMaxtext);
  ASSERT_TRUE(lay_over("ici:fsdp=32,sequence=2", job));
  EXPECT_EQ(job.layout.tp, 1);
  EXPECT_EQ(job.layout.cp, 2);
  EXPECT_EQ(job.layout.dp, 32);
}

TEST(JobLayout, WordsThatDoNotParseLeaveTheJobAlone) {
  const Job before = job_of("tp=4");
  for (const char* words : {"tp=", "tq=4", "ici:tensor=0", "mbs=1,mbs=2", "ici:fsdp=2;tp"}) {
    Job job = before;
    EXPECT_FALSE(lay_over(words, job)) << words;
    EXPECT_EQ(job.layout, before.layout) << words;
  }
}

}  // namespace
}  // namespace sextant::describe
