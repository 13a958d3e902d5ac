#include "workload/weights.h"

#include <gtest/gtest.h>

#include "describe/model/load_model.h"
#include "describe/model/parameters.h"
#include "workload/saved_walk.h"

namespace sextant::workload {
namespace {

using describe::Job;

Job whole(const std::string& name) {
  Job job;
  job.model = *describe::load_model(name, describe::DataStore());
  job.cluster.devices = 1;
  job.framework = describe::Framework::kTorchtitan;  // pads no vocabulary
  job.sequences.length = 1024;
  job.global_batch = 1;
  return job;
}

TEST(Weights, OneRankHoldsEveryParameterOfEveryCatalogueModel) {
  for (const std::string& name : describe::catalogue_names(describe::DataStore())) {
    const Job job = whole(name);
    const Shard shard = shard_of(job);
    const std::vector<Stage> stages = stages_of(job);
    ASSERT_EQ(stages.size(), 1U) << name;
    const describe::ModelParameters counted = describe::model_parameters(job.model);
    EXPECT_EQ(stage_weights(job.model, stages[0], shard).total(), counted.total() + counted.mtp)
        << name;
  }
}

TEST(Weights, ExpertsAreDealtOutByEpAndSplitByEtp) {
  Job job = whole("deepseek-v3");
  const auto experts = [&job](std::int64_t ep, std::int64_t etp) {
    job.layout.ep = ep;
    job.layout.etp = etp;
    Shard shard = shard_of(job);
    return block_weights(job.model, job.model.blocks.back(), shard).experts;
  };
  EXPECT_EQ(experts(1, 1), std::int64_t{256} * 3 * 7168 * 2048);
  EXPECT_EQ(experts(64, 1) * 64, experts(1, 1));
  EXPECT_EQ(experts(8, 2) * 16, experts(1, 1));
}

TEST(Weights, KeyValueHeadsAreRepeatedWhereThereAreFewerThanRanks) {
  EXPECT_EQ(local_kv_heads(8, 4), 2);
  EXPECT_EQ(local_kv_heads(8, 8), 1);
  EXPECT_EQ(local_kv_heads(8, 16), 1);
}

TEST(Stages, HoldEveryLayerOnce) {
  Job job = whole("llama-3.1-405b");
  job.layout.pp = 8;
  job.layout.vpp = 4;
  job.layout.split.count_embedding = true;
  job.layout.split.count_loss = true;  // 126 + 2 = 32 · 4
  const std::vector<Stage> stages = stages_of(job);
  ASSERT_EQ(stages.size(), 32U);
  std::int64_t layers = 0;
  for (const Stage& stage : stages) {
    EXPECT_EQ(stage.first_layer, layers);
    EXPECT_EQ(stage.pipeline_rank, stage.index % 8);
    layers += stage.layers;
  }
  EXPECT_EQ(layers, 126);
  EXPECT_EQ(stages.front().layers, 3);
  EXPECT_EQ(stages.back().layers, 3);
}

TEST(Stages, VShapedSchedulesFoldBack) {
  Job job = whole("llama-3.1-70b");
  job.layout.pp = 4;
  job.layout.vpp = 2;
  job.layout.schedule = describe::Schedule::kZbv;
  const std::vector<Stage> stages = stages_of(job);
  ASSERT_EQ(stages.size(), 8U);
  EXPECT_EQ(stages[3].pipeline_rank, 3);
  EXPECT_EQ(stages[4].pipeline_rank, 3);
  EXPECT_EQ(stages[7].pipeline_rank, 0);
}

// Measured with autograd hooks on an H200 (data/measured/h200_saved_tensors.csv): Hugging Face's
// Llama keeps 16h + 4q + 4k + 8f + 4·heads + 8 bytes a token and layer in bf16, Qwen3's norms of
// queries and keys 6q + 6k + 4(heads + kv heads) more.
TEST(Saved, HuggingFaceLayersKeepWhatWasMeasured) {
  Job job = whole("llama-3.1-8b");
  job.framework = describe::Framework::kAccelerate;
  const auto a_token = [&job] {
    return saved_bytes(job.model, job.model.blocks[0], shard_of(job), saved_rules(job, job.layout),
                       0) /
           1024.0;
  };
  const double llama = 16.0 * 4096 + 4.0 * 4096 + 4.0 * 1024 + 8.0 * 14336 + 4.0 * 32 + 8.0;
  EXPECT_DOUBLE_EQ(a_token(), llama);
  auto& attention = std::get<describe::Attention>(job.model.blocks[0].mixer);
  attention.qk_norm = describe::QkNorm::kPerHead;
  EXPECT_DOUBLE_EQ(a_token(), llama + 6.0 * 4096 + 6.0 * 1024 + 4.0 * (32 + 8));
  attention.qk_norm = describe::QkNorm::kNone;
  job.layout.attention = describe::AttentionKernel::kEager;
  EXPECT_DOUBLE_EQ(a_token(), 16.0 * 4096 + 8.0 * 4096 + 8.0 * 14336 + 8.0 + 6.0 * 32 * 1024);
  job.layout.attention = describe::AttentionKernel::kFlash;
  job.layout.parameters = describe::Storage::kFp32;  // autocast
  EXPECT_DOUBLE_EQ(a_token(), llama + 10.0 * 4096);
}

// Korthikanti et al. 2022, arXiv:2205.05198, eq. 1: s·b·h·(34 + 5·a·s/h) bytes a layer.
TEST(Saved, LegacyMegatronKeepsThePublishedThirtyFour) {
  Job job = whole("gpt-3-175b");
  job.framework = describe::Framework::kMegatronDeepspeed;
  job.layout.precision = describe::Precision::kFp16;
  job.layout.attention = describe::AttentionKernel::kFused;
  const double bytes =
      saved_bytes(job.model, job.model.blocks[0], shard_of(job), saved_rules(job, job.layout), 0);
  const double h = 12288.0;
  const double s = 1024.0;
  EXPECT_NEAR(bytes / (s * h * (34.0 + 5.0 * 96.0 * s / h)), 1.0, 1e-3);
}

}  // namespace
}  // namespace sextant::workload
