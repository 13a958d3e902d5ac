#include "measured/run_model.h"

#include <gtest/gtest.h>

#include "describe/model/parameters.h"

namespace sextant::measured {
namespace {

using describe::Attention;
using describe::LatentAttention;
using describe::MoeFfn;

RunCells llama() {
  RunCells run;
  run.id = "X-1";
  run.model = "llama2-7b";
  run.arch = "dense";
  run.layers = 32;
  run.hidden = 4096;
  run.ffn = 11008;
  run.heads = 32;
  run.kv_heads = 32;
  run.head_dim = 128;
  run.vocab = 32000;
  run.gated = true;
  run.seq = 4096;
  return run;
}

ModelReading read_model(const RunCells& run) {
  const auto reading = run_model(run, describe::DataStore());
  EXPECT_TRUE(reading);
  return reading ? *reading : ModelReading();
}

TEST(RunModel, ALlamaHasItsPublishedParameters) {
  const ModelReading reading = read_model(llama());
  ASSERT_TRUE(reading.model);
  const describe::Model model = reading.model.value_or(describe::Model());
  // Llama-2 7B: 6,738,415,616 parameters (Hugging Face checkpoint).
  EXPECT_EQ(describe::model_parameters(model).total(), 6'738'415'616);
  EXPECT_TRUE(reading.assumed.empty());
}

TEST(RunModel, AGptWithoutVocabularyTakesMegatronsAndSaysSo) {
  RunCells run = llama();
  run.model = "GPT h4096 L32";
  run.arch = "dense(GPT)";
  run.vocab.reset();
  run.gated = false;
  const ModelReading reading = read_model(run);
  ASSERT_TRUE(reading.model);
  const describe::Model model = reading.model.value_or(describe::Model());
  EXPECT_EQ(model.vocab, 51200);
  EXPECT_TRUE(model.tied_head);
  EXPECT_EQ(model.learned_positions, 4096);
  EXPECT_EQ(reading.assumed.size(), 2U);
}

TEST(RunModel, LatentAttentionIsReadFromItsParentheses) {
  RunCells run = llama();
  run.arch = "moe+MLA(q_lora1536,kv_lora512,qk_nope128,qk_rope64,v128)";
  run.experts = 256;
  run.topk = 8;
  run.expert_ffn = 2048;
  run.shared_ffn = 2048;
  run.dense_layers = 3;
  run.flags = "force-balanced routing; MTP 1 layer";
  const ModelReading reading = read_model(run);
  ASSERT_TRUE(reading.model);
  const describe::Model model = reading.model.value_or(describe::Model());
  ASSERT_EQ(model.blocks.size(), 2U);
  const auto& latent = std::get<LatentAttention>(model.blocks[1].mixer);
  EXPECT_EQ(latent.q_lora_rank, 1536);
  EXPECT_EQ(latent.kv_lora_rank, 512);
  EXPECT_EQ(latent.v_head_dim, 128);
  EXPECT_EQ(std::get<MoeFfn>(model.blocks[1].ffn).shared_width, 2048);
  EXPECT_EQ(model.layers[2], 0);
  EXPECT_EQ(model.layers[3], 1);
  EXPECT_EQ(model.mtp_layers, 1);
}

TEST(RunModel, SlidingWindowsFollowTheirRhythm) {
  RunCells run = llama();
  run.arch = "dense(5:1 local SWA1024)";
  const ModelReading reading = read_model(run);
  ASSERT_TRUE(reading.model);
  const describe::Model model = reading.model.value_or(describe::Model());
  const auto window = [&](std::size_t layer) {
    const auto block = static_cast<std::size_t>(model.layers[layer]);
    return std::get<Attention>(model.blocks[block].mixer).window;
  };
  EXPECT_EQ(window(0), 1024);
  EXPECT_EQ(window(4), 1024);
  EXPECT_EQ(window(5), 0);
  EXPECT_EQ(window(6), 1024);
}

TEST(RunModel, WhatIsNotStatedIsRefusedByName) {
  RunCells run = llama();
  run.model = "no such model";
  run.hidden.reset();
  run.heads.reset();
  EXPECT_EQ(read_model(run).refusal, "model shape not stated: hidden, heads");
  run = llama();
  run.heads.reset();
  run.kv_heads.reset();
  EXPECT_EQ(read_model(run).assumed.size(), 1U);  // 4096 / 128 heads
  run = llama();
  run.vocab.reset();
  EXPECT_EQ(read_model(run).refusal, "model shape not stated: vocab");
  run = llama();
  run.arch = "hybrid GatedDeltaNet+MoE";
  EXPECT_FALSE(read_model(run).model);
}

TEST(RunModel, MtpLayersAreCounted) {
  EXPECT_EQ(mtp_layers("dropless; MTP 1 layer; x=1"), 1);
  EXPECT_EQ(mtp_layers("w/o MTP; dropless"), 0);
  EXPECT_EQ(mtp_layers(""), 0);
}

}  // namespace
}  // namespace sextant::measured
