#include "app/job_request.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "app/testing.h"

namespace sextant::app {
namespace {

JobRequest h100_request(std::string layout) {
  return llama_request(std::move(layout), "64xh100-sxm");
}

bool is_assumed(const describe::Job& job, std::string_view start) {
  return std::any_of(job.assumed.begin(), job.assumed.end(), [&](const describe::Assumption& one) {
    return describe::to_text(one).starts_with(start);
  });
}

TEST(JobRequest, WhatIsLeftOutIsFilledByAStatedRule) {
  const auto reading = read_job(h100_request("tp=4,pp=2"), megatron_context());
  ASSERT_TRUE(reading) << to_text(reading.error());
  EXPECT_TRUE(reading->violations.empty());
  const describe::Job& job = reading->job;
  EXPECT_EQ(job.framework, describe::Framework::kMegatronCore);
  EXPECT_EQ(job.sequences.length, 4096);
  EXPECT_EQ(job.dp(), 8);
  EXPECT_EQ(job.global_batch, 1024);  // 4 Mi tokens of 4096
  EXPECT_TRUE(is_assumed(job, "seq=4096"));
  EXPECT_TRUE(is_assumed(job, "gbs=1024"));
  EXPECT_TRUE(is_assumed(job, "sp=1"));
  EXPECT_EQ(reading->inputs.size(), 4U);  // model, device, system, fabric
}

// Twelve devices plan 3 · 256 sequences, the nearest to 1024 of three times a power of two.
TEST(JobRequest, ABatchLeftOutIsOneThatReplicasShareEvenly) {
  JobRequest asked = h100_request("");
  asked.cluster = "12xh100-sxm";
  const auto batch = [&asked](const char* layout) {
    asked.layout = layout;
    return read_job(asked, megatron_context())->job.global_batch;
  };
  EXPECT_EQ(batch("tp=4"), 768);
  EXPECT_EQ(batch("tp=4,mbs=512"), 1536);     // one microbatch each
  EXPECT_EQ(batch("pp=4,vpp=2,mbs=5"), 780);  // of 3 · 5 · 4 the nearest to 768
}

TEST(JobRequest, ShortModelsTakeTheirOwnLength) {
  JobRequest asked = h100_request("");
  asked.model = "gpt2";
  EXPECT_EQ(read_job(asked, megatron_context())->job.sequences.length, 1024);
}

TEST(JobRequest, WhatIsGivenIsTaken) {
  JobRequest asked = h100_request("mbs=2");
  asked.framework = "torchtitan";
  asked.sequences = "packed:8192";
  asked.global_batch = "256";
  asked.workload = "lora:8:qkv+linear_proj";
  const auto reading = read_job(asked, megatron_context());
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->job.framework, describe::Framework::kTorchtitan);
  EXPECT_EQ(reading->job.sequences.kind, describe::Sequences::Kind::kPacked);
  EXPECT_EQ(reading->job.global_batch, 256);
  EXPECT_EQ(reading->job.lora.value_or(describe::Lora{}).rank, 8);
  EXPECT_FALSE(is_assumed(reading->job, "gbs"));
}

TEST(JobRequest, AMeshMayStandBeforeTheKeys) {
  JobRequest asked = h100_request("ici:fsdp=16,tensor=4;mbs=2");
  asked.framework = "maxtext";
  const auto reading = read_job(asked, megatron_context());
  ASSERT_TRUE(reading) << to_text(reading.error());
  EXPECT_EQ(reading->job.layout.tp, 4);
  EXPECT_EQ(reading->job.layout.dp, 16);
  EXPECT_EQ(reading->job.layout.mbs, 2);
  EXPECT_TRUE(reading->violations.empty());
}

TEST(JobRequest, AnIllegalLayoutIsAValue) {
  const auto reading = read_job(h100_request("tp=3"), megatron_context());
  ASSERT_TRUE(reading);
  EXPECT_FALSE(reading->violations.empty());
}

TEST(JobRequest, TheAnswerToAnIllegalLayoutNamesTheRuleAndTheInputs) {
  const auto reading = read_job(h100_request("tp=3"), megatron_context());
  ASSERT_TRUE(reading);
  const std::string text =
      explain::to_text(not_legal(*reading, "memory"), {explain::Format::kJson, false});
  EXPECT_NE(text.find("\"sextant.memory/2\""), std::string::npos);
  EXPECT_NE(text.find(reading->violations.front().rule), std::string::npos);
  EXPECT_EQ(provenance_of(*reading).inputs, reading->inputs);
}

struct BadWord {
  std::string JobRequest::* field;
  const char* value;
  const char* said;
};

TEST(JobRequest, BadWordsAreErrorsThatNameTheOption) {
  for (const BadWord& bad :
       {BadWord{&JobRequest::cluster, "", "‹on›"}, BadWord{&JobRequest::global_batch, "0", "‹gbs›"},
        BadWord{&JobRequest::global_batch, "many", "‹gbs›"},
        BadWord{&JobRequest::sequences, "-1", "‹seq›"},
        BadWord{&JobRequest::framework, "megatorn", "‹framework›"},
        BadWord{&JobRequest::layout, "tq=2", "‹layout›"},
        BadWord{&JobRequest::workload, "pretrain:3", "‹workload›"},
        BadWord{&JobRequest::workload, "lora:0", "‹workload›"},
        BadWord{&JobRequest::workload, "lora:4:qqq", "‹workload›"}}) {
    JobRequest asked = h100_request("");
    asked.*bad.field = bad.value;
    const auto reading = read_job(asked, megatron_context());
    ASSERT_FALSE(reading) << bad.value;
    EXPECT_EQ(reading.error().where, bad.said);
  }
}

}  // namespace
}  // namespace sextant::app
