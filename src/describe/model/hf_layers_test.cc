#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "describe/model/hf_config_for_test.h"
#include "describe/model/model.h"

namespace sextant::describe {
namespace {

TEST(HfLayers, SlidingWindows) {
  using Windows = std::vector<std::int64_t>;
  const auto of = [](std::string_view type, std::string_view more) {
    return windows(model_of(small(type, more)));
  };
  EXPECT_EQ(of("mistral", R"("sliding_window": 9)"), (Windows{9, 9, 9, 9}));
  EXPECT_EQ(of("gemma2", R"("sliding_window": 9)"), (Windows{9, 0, 9, 0}));
  EXPECT_EQ(of("gpt_oss", R"("sliding_window": 9)"), (Windows{9, 0, 9, 0}));
  EXPECT_EQ(of("gemma3_text", R"("sliding_window": 9, "sliding_window_pattern": 3)"),
            (Windows{9, 9, 0, 9}));
  EXPECT_EQ(of("exaone4", R"("sliding_window": 9, "sliding_window_pattern": "LLG")"),
            (Windows{9, 9, 0, 9}));
  EXPECT_EQ(of("exaone4", R"("sliding_window": null)"), (Windows{0, 0, 0, 0}));
  EXPECT_EQ(of("qwen2", R"("sliding_window": 9)"), (Windows{0, 0, 0, 0}));
  EXPECT_EQ(
      of("qwen2", R"("sliding_window": 9, "use_sliding_window": true, "max_window_layers": 3)"),
      (Windows{0, 0, 0, 9}));
  EXPECT_EQ(of("olmo3", R"("sliding_window": 9, "layer_types": ["full_attention",
      "sliding_attention", "full_attention", "full_attention"])"),
            (Windows{0, 9, 0, 0}));
  EXPECT_EQ(of("gpt_neo", R"("window_size": 9, "attention_types": [[["global"], 1],
      [["local", "global", "local"], 1]])"),
            (Windows{0, 9, 0, 9}));
  EXPECT_EQ(of("llama4_text", R"("attention_chunk_size": 9)"), (Windows{9, 9, 9, 0}));
}

TEST(HfLayers, Gemma3HasFiveLocalLayersToOne) {
  const Model model = model_of(R"({"model_type": "gemma3_text", "num_hidden_layers": 12})");
  EXPECT_EQ(std::ranges::count(windows(model), 0), 2);
  EXPECT_EQ(windows(model)[5], 0);
  EXPECT_EQ(windows(model)[11], 0);
}

TEST(HfLayers, LayersWithExperts) {
  const std::string sizes = R"("num_experts": 8, "num_experts_per_tok": 2,
      "moe_intermediate_size": 32, )";
  const auto of = [&](std::string_view type, std::string_view more) {
    return ffns(model_of(small(type, sizes + std::string(more))));
  };
  EXPECT_EQ(of("mixtral", R"("sliding_window": null)"), "EEEE");
  EXPECT_EQ(of("deepseek_v3", R"("first_k_dense_replace": 2)"), "DDEE");
  EXPECT_EQ(of("deepseek_v2", R"("first_k_dense_replace": 1, "moe_layer_freq": 2)"), "DDED");
  EXPECT_EQ(of("deepseek_v3", R"("moe_layer_freq": [0, 1, 0, 1])"), "DEDE");
  EXPECT_EQ(of("deepseek_v32", R"("mlp_layer_types": ["dense", "sparse", "dense", "sparse"])"),
            "DEDE");
  EXPECT_EQ(of("qwen3_moe", R"("decoder_sparse_step": 2)"), "DEDE");
  EXPECT_EQ(of("qwen3_moe", R"("mlp_only_layers": [1, 3])"), "EDED");
  EXPECT_EQ(of("llama4_text", R"("interleave_moe_layer_step": 2)"), "DEDE");
  EXPECT_EQ(of("llama4_text", R"("moe_layers": [0])"), "EDDD");
  EXPECT_EQ(of("ernie4_5_moe", R"("moe_layer_start_index": 1, "moe_layer_end_index": 2)"), "DEED");
  EXPECT_EQ(ffns(model_of(small("granitemoehybrid", R"("num_local_experts": 0,
      "shared_intermediate_size": 32, "mamba_n_heads": 4)"))),
            "DDDD");
}

TEST(HfLayers, Hybrids) {
  EXPECT_EQ(mixers(model_of(small("qwen3_5_text", ""))), "GGGA");
  EXPECT_EQ(mixers(model_of(small("qwen3_5_text", R"("full_attention_interval": 2)"))), "GAGA");
  EXPECT_EQ(mixers(model_of(small("bamba", R"("attn_layer_indices": [1], "mamba_n_heads": 4)"))),
            "MAMM");
  EXPECT_EQ(mixers(model_of(small("granitemoehybrid", R"("mamba_n_heads": 4,
      "layer_types": ["mamba", "attention", "mamba", "mamba"])"))),
            "MAMM");
  const Model nemotron = model_of(small("nemotron_h", R"("hybrid_override_pattern": "M-*E")"));
  EXPECT_EQ(mixers(nemotron), "M.A.");
  EXPECT_EQ(ffns(nemotron), ".D.E");
  EXPECT_EQ(nemotron.blocks.front().norms, 1);
  EXPECT_EQ(mixers(model_of(small("nemotron_h", R"("layers_block_type": ["mamba", "moe",
      "attention", "mlp"])"))),
            "M.A.");
  EXPECT_EQ(mixers(model_of(small("mamba2", ""))), "MMMM");
}

TEST(HfLayers, AutoMambaHeadSizeIsTheExpandedWidthOverTheHeads) {
  const Model model = model_of(small("bamba", R"("mamba_n_heads": 4, "mamba_d_head": "auto")"));
  const auto* mamba = std::get_if<Mamba2>(&model.blocks.front().mixer);
  ASSERT_NE(mamba, nullptr);
  EXPECT_EQ(mamba->head_dim, 2 * 64 / 4);
}

TEST(HfLayers, LatentAttentionIgnoresHeadDim) {
  const Model model = model_of(small("deepseek_v3", R"("head_dim": 64, "q_lora_rank": null)"));
  const auto* attention = std::get_if<LatentAttention>(&model.blocks.front().mixer);
  ASSERT_NE(attention, nullptr);
  EXPECT_EQ(attention->q_lora_rank, 0);
  EXPECT_EQ(attention->qk_nope_head_dim, 128);
  EXPECT_EQ(attention->indexer.heads, 0);
  const Model sparse = model_of(small("deepseek_v32", ""));
  EXPECT_EQ(std::get<LatentAttention>(sparse.blocks.front().mixer).indexer.topk, 2048);
}

TEST(HfLayers, FamilyPropertiesTheFileDoesNotState) {
  EXPECT_TRUE(first_attention(model_of(small("qwen2", ""))).qkv_bias);
  EXPECT_FALSE(first_attention(model_of(small("qwen2", ""))).output_bias);
  EXPECT_EQ(first_attention(model_of(small("qwen3", ""))).qk_norm, QkNorm::kPerHead);
  EXPECT_EQ(first_attention(model_of(small("olmo2", ""))).qk_norm, QkNorm::kWholeProjection);
  EXPECT_EQ(first_attention(model_of(small("cohere", ""))).qk_norm, QkNorm::kNone);
  EXPECT_TRUE(first_attention(model_of(small("gpt_oss", ""))).sinks);
  EXPECT_TRUE(first_attention(model_of(small("qwen3_5_text", ""))).output_gate);
  EXPECT_FALSE(first_attention(model_of(small("gpt2", ""))).rotary);
  EXPECT_FALSE(first_attention(model_of(small("falcon", R"("alibi": true)"))).rotary);
  EXPECT_EQ(model_of(small("gemma2", "")).blocks.front().norms, 4);
  EXPECT_EQ(model_of(small("opt", "")).learned_positions, 258);
  EXPECT_TRUE(model_of(small("gptj", "")).head_bias);
  EXPECT_TRUE(model_of(small("gptj", "")).blocks.front().parallel_residual);
  EXPECT_TRUE(model_of(small("bloom", "")).embedding_norm);
  EXPECT_FALSE(model_of(small("olmo", "")).norm.has_weight);
  EXPECT_FALSE(std::get<DenseFfn>(model_of(small("nemotron", "")).blocks.front().ffn).gated);
}

TEST(HfLayers, FalconCountsKeyValueHeadsByItsArchitecture) {
  const auto heads = [](std::string_view more) {
    return first_attention(model_of(small("falcon", more))).kv_heads;
  };
  EXPECT_EQ(heads(R"("multi_query": true)"), 1);
  EXPECT_EQ(heads(R"("multi_query": false)"), 4);
  EXPECT_EQ(heads(R"("new_decoder_architecture": true)"), 2);
}

TEST(HfLayers, MultiTokenPrediction) {
  const Model v3 = model_of(small("deepseek_v3", R"("num_nextn_predict_layers": 2)"));
  EXPECT_EQ(v3.mtp_layers, 2);
  EXPECT_EQ(v3.mtp_block, v3.layers.back());
  EXPECT_EQ(model_of(small("qwen3_5_text", R"("mtp_num_hidden_layers": 1)")).mtp_layers, 1);
  EXPECT_EQ(model_of(small("llama", "")).mtp_layers, 0);
  // Single-part layers: prediction repeats attention and experts together.
  const Model nemotron = model_of(
      small("nemotron_h", R"("hybrid_override_pattern": "MEM*", "num_nextn_predict_layers": 1)"));
  const Block& block = nemotron.blocks[static_cast<std::size_t>(nemotron.mtp_block)];
  EXPECT_TRUE(std::holds_alternative<Attention>(block.mixer));
  EXPECT_TRUE(std::holds_alternative<MoeFfn>(block.ffn));
  EXPECT_EQ(block.norms, 2);
}

TEST(HfLayers, NestedFieldsOfDbrx) {
  const Model model = model_of(R"({"model_type": "dbrx", "d_model": 64, "n_heads": 4, "n_layers": 2,
      "max_seq_len": 128, "vocab_size": 100, "attn_config": {"kv_n_heads": 2},
      "ffn_config": {"ffn_hidden_size": 32, "moe_num_experts": 8, "moe_top_k": 3}})");
  EXPECT_EQ(first_attention(model).kv_heads, 2);
  EXPECT_EQ(std::get<MoeFfn>(model.blocks.front().ffn).topk, 3);
}

}  // namespace
}  // namespace sextant::describe
