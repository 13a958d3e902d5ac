#include "describe/layout/job_layout.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"
#include "describe/layout/framework_defaults.h"
#include "describe/layout/layout_words.h"

namespace sextant::describe {
namespace {

Job laid_job(std::string_view text, Framework framework = Framework::kMegatronCore) {
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
  const Job job = laid_job("ici:fsdp=16,tensor=4;mbs=2", Framework::kMaxtext);
  EXPECT_EQ(job.layout.tp, 4);
  EXPECT_EQ(job.layout.dp, 16);
  EXPECT_EQ(job.layout.mbs, 2);
  EXPECT_TRUE(job.states("mbs"));
}

TEST(JobLayout, WhatTheWordsDoNotNameStays) {
  Job job = laid_job("tp=4,pp=2,mbs=2,recompute=full");
  ASSERT_TRUE(lay_over("mbs=1", job));
  EXPECT_EQ(job.layout, laid_job("tp=4,pp=2,mbs=1,recompute=full").layout);
}

TEST(JobLayout, ReplicasAreWhatIsLeftUnlessSomebodyNamesThem) {
  Job job = laid_job("tp=4,pp=2,dp=8");
  ASSERT_TRUE(lay_over("mbs=2", job));
  EXPECT_EQ(job.layout.dp, 8);
  ASSERT_TRUE(lay_over("tp=8", job));
  EXPECT_EQ(job.layout.dp, 0);
  EXPECT_EQ(job.dp(), 4);
  ASSERT_TRUE(lay_over("tp=2,dp=8", job));
  EXPECT_EQ(job.layout.dp, 8);
}

TEST(JobLayout, TheUsualScheduleFollowsItsChunks) {
  Job job = laid_job("tp=4,pp=4");
  ASSERT_TRUE(lay_over("vpp=2", job));
  EXPECT_EQ(job.layout.schedule, Schedule::kInterleaved1f1b);
  ASSERT_TRUE(lay_over("vpp=1", job));
  EXPECT_EQ(job.layout.schedule, Schedule::k1f1b);
  ASSERT_TRUE(lay_over("vpp=2,schedule=looped-bfs", job));
  ASSERT_TRUE(lay_over("vpp=4", job));
  EXPECT_EQ(job.layout.schedule, Schedule::kLoopedBfs) << "an unusual one stays";
}

TEST(JobLayout, AMeshNamesAllItsAxes) {
  Job job = laid_job("ici:fsdp=16,tensor=4", Framework::kMaxtext);
  ASSERT_TRUE(lay_over("ici:fsdp=32,sequence=2", job));
  EXPECT_EQ(job.layout.tp, 1);
  EXPECT_EQ(job.layout.cp, 2);
  EXPECT_EQ(job.layout.dp, 32);
}

TEST(JobLayout, WordsThatDoNotParseLeaveTheJobAlone) {
  const Job before = laid_job("tp=4");
  for (const char* words : {"tp=", "tq=4", "ici:tensor=0", "mbs=1,mbs=2", "ici:fsdp=2;tp"}) {
    Job job = before;
    EXPECT_FALSE(lay_over(words, job)) << words;
    EXPECT_EQ(job.layout, before.layout) << words;
  }
}

Job laid_on(const std::string& cluster, std::string_view text) {
  Job job;
  job.cluster = *load_cluster(cluster, DataStore());
  job.framework = default_framework(job.cluster);
  EXPECT_TRUE(set_layout(text, job)) << text;
  return job;
}

// Volta and Turing multiply in fp16 and not in bf16; a processor's bf16 is no faster than its fp32.
TEST(JobLayout, TheDeviceDecidesTheFormatNobodyStated) {
  struct Case {
    const char* cluster;
    Framework framework;
    Precision precision;
    Storage parameters;
  };
  for (const Case& one :
       {Case{"8xv100-sxm-32g", Framework::kMegatronCore, Precision::kFp16, Storage::kFp16},
        Case{"4xt4", Framework::kMegatronCore, Precision::kFp16, Storage::kFp16},
        Case{"8xh100-sxm", Framework::kMegatronCore, Precision::kBf16, Storage::kBf16},
        Case{"8xmi300x", Framework::kMegatronCore, Precision::kBf16, Storage::kBf16},
        Case{"v6e-16", Framework::kMaxtext, Precision::kBf16, Storage::kFp32},
        Case{"2xcpu-host", Framework::kOther, Precision::kFp32, Storage::kFp32}}) {
    const Job job = laid_on(one.cluster, "mbs=2");
    EXPECT_EQ(job.framework, one.framework) << one.cluster;
    EXPECT_EQ(job.layout.precision, one.precision) << one.cluster;
    EXPECT_EQ(job.layout.parameters, one.parameters) << one.cluster;
  }
  const Job processor = laid_on("2xcpu-host", "");
  EXPECT_EQ(processor.layout.optimizer.master, Storage::kNone);  // of fp32 there is no second copy
  EXPECT_EQ(processor.layout.gradients, Storage::kFp32);
  EXPECT_EQ(laid_on("8xv100-sxm-32g", "precision=fp32").layout.precision, Precision::kFp32);
}

// Words leave out what the framework and the device decide, and nothing else.
TEST(JobLayout, WordsBringTheLayoutBackOnAnyDevice) {
  for (const char* const cluster : {"8xv100-sxm-32g", "2xcpu-host", "8xh100-sxm"}) {
    for (const char* const text : {"mbs=2", "precision=bf16", "precision=fp16", "precision=fp32"}) {
      const Job job = laid_on(cluster, text);
      const std::string words = layout_words(job.layout, job.framework, job.cluster.device);
      EXPECT_EQ(laid_on(cluster, words).layout, job.layout) << cluster << " " << words;
    }
  }
}

}  // namespace
}  // namespace sextant::describe
