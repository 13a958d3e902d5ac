#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "describe/model/hf_config_for_test.h"
#include "describe/model/load_model.h"
#include "describe/model/parameters.h"

namespace sextant::describe {
namespace {

TEST(HfConfig, ASmallLlama) {
  const Model model = model_of(small("llama", ""));
  EXPECT_EQ(model.family, "llama");
  EXPECT_EQ(model.layer_count(), 4);
  EXPECT_EQ(model.blocks.size(), 1U);
  EXPECT_TRUE(model.assumed.empty());
  // Embedding and head 2·100·64; a layer 2·64·64 + 2·64·32 + 3·64·128 + 2·64; the last norm 64.
  EXPECT_EQ(model_parameters(model).total(), 12'800 + 4 * (8'192 + 4'096 + 24'576 + 128) + 64);
}

TEST(HfConfig, OmittedFieldsTakeTheClassDefaultsAndAreListed) {
  const Model model = model_of(R"({"model_type": "llama"})");
  // LlamaConfig's defaults are Llama-7B, whose count is published.
  EXPECT_EQ(model_parameters(model).total(), 6'738'415'616);
  EXPECT_TRUE(assumes(model, "vocab_size=32000 (LlamaConfig's default)"));
  EXPECT_TRUE(assumes(model, "tie_word_embeddings=false (LlamaConfig's default)"));
  EXPECT_FALSE(assumes(model, "attention_bias"));
}

TEST(HfConfig, AStatedNullIsNotTheDefault) {
  // MistralConfig's default window is 4096; later releases state null.
  EXPECT_EQ(windows(model_of(small("mistral", ""))).front(), 4096);
  EXPECT_EQ(windows(model_of(small("mistral", R"("sliding_window": null)"))).front(), 0);
}

TEST(HfConfig, TheNamesOfOlderAndNewerReleasesMeanTheSame) {
  const Model old_names =
      model_of(R"({"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4,
      "n_positions": 128, "vocab_size": 50, "n_inner": null, "torch_dtype": "float16"})");
  const Model new_names = model_of(R"({"model_type": "gpt2", "hidden_size": 64,
      "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 128,
      "vocab_size": 50, "intermediate_size": 256, "dtype": "float16"})");
  EXPECT_EQ(model_parameters(old_names).total(), model_parameters(new_names).total());
  EXPECT_EQ(old_names.learned_positions, 128);
  EXPECT_TRUE(assumes(old_names, "intermediate_size=256 (4 × hidden_size)"));

  const Model v4 =
      model_of(small("llama", R"("rope_theta": 5e5, "rope_scaling": {"type": "yarn"})"));
  const Model v5 = model_of(small("llama", R"("rope_parameters": {"rope_type": "yarn"})"));
  EXPECT_EQ(model_parameters(v4).total(), model_parameters(v5).total());
}

TEST(HfConfig, ExpertsHaveManyNames) {
  std::int64_t total = 0;
  for (const std::string_view name : {"num_experts", "num_local_experts", "n_routed_experts"}) {
    const Model model = model_of(small(
        "deepseek_v3", "\"" + std::string(name) +
                           R"(": 16, "moe_intermediate_size": 32, "first_k_dense_replace": 1)"));
    EXPECT_EQ(ffns(model), "DEEE");
    total = total == 0 ? model_parameters(model).total() : total;
    EXPECT_EQ(model_parameters(model).total(), total);
  }
}

TEST(HfConfig, WrappersAreDescendedInto) {
  for (const std::string_view key : {"text_config", "llm_config", "language_config"}) {
    const Model model =
        model_of(R"({"model_type": "some_vl", "vision_config": {"hidden_size": 7}, ")" +
                 std::string(key) + "\": " + small("llama", "") + "}");
    EXPECT_EQ(model.family, "llama");
    EXPECT_EQ(model.hidden, 64);
  }
}

TEST(HfConfig, TheWrapperTiesTheHeadWhereTheTextPartDoesNotSay) {
  const std::string inner = R"({"hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 99)";
  EXPECT_FALSE(
      model_of(R"({"model_type": "gemma3", "tie_word_embeddings": false, "text_config": )" + inner +
               "}}")
          .tied_head);
  EXPECT_TRUE(model_of(R"({"model_type": "gemma3", "tie_word_embeddings": false, "text_config": )" +
                       inner + R"(, "tie_word_embeddings": true}})")
                  .tied_head);
  const Model silent = model_of(R"({"model_type": "gemma3", "text_config": )" + inner + "}}");
  EXPECT_TRUE(silent.tied_head);
  EXPECT_TRUE(assumes(silent, "tie_word_embeddings=true (Gemma3TextConfig's default)"));
}

TEST(HfConfig, TheArchitectureStandsInForAMissingModelType) {
  const Model model = model_of(R"({"architectures": ["Qwen3MoeForCausalLM"]})");
  EXPECT_EQ(model.family, "qwen3_moe");
  EXPECT_TRUE(assumes(model, "model_type=qwen3_moe (from architectures)"));
  EXPECT_EQ(model_of(R"({"architectures": ["GPT2LMHeadModel"]})").family, "gpt2");
  EXPECT_TRUE(contains(error_of("{}"), "neither model_type nor a known architecture"));
}

TEST(HfConfig, UnknownTypesAreReadAsLlamaAndSaySo) {
  const Model model = model_of(small("brand_new", ""));
  EXPECT_EQ(model.family, "brand_new");
  EXPECT_TRUE(assumes(model, "a decoder like Llama"));
  const Model experts = model_of(small(
      "brand_new", R"("num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32)"));
  EXPECT_EQ(ffns(experts), "EEEE");
  EXPECT_TRUE(assumes(experts, "with experts in each layer"));
}

TEST(HfConfig, WhatCannotBeDescribedIsRefusedWithTheReason) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"model_type": "t5"})", "encoder-decoder"},
      {R"({"model_type": "bert"})", "an encoder"},
      {R"({"model_type": "deepseek_v4"})", "hyper-connections"},
      {R"({"model_type": "jamba"})", "Mamba-1"},
      {R"({"model_type": "brand_new"})", "'hidden_size' is missing"},
      {small("brand_new", R"("ssm_state_size": 16)"), "'ssm_state_size' says"},
      {small("llama", R"("is_encoder_decoder": true)"), "encoder-decoder"},
      {small("opt", R"("word_embed_proj_dim": 32)"), "projected"},
      {R"({"model_type": "nemotron_h"})", "hybrid_override_pattern"},
  };
  for (const auto& [json, reason] : cases) {
    EXPECT_TRUE(contains(error_of(json), reason)) << error_of(json);
  }
  // The families that are known are listed, and near words suggested.
  EXPECT_TRUE(contains(error_of(R"({"model_type": "t5"})"), "qwen3_moe"));
  EXPECT_TRUE(contains(error_of(R"({"model_type": "qwen3moe"})"), "did you mean qwen3_moe"));
}

TEST(HfConfig, ErrorsNameTheLineAndWhatIsAllowed) {
  const std::string error = error_of("{\"model_type\": \"llama\",\n\"hidden_size\": -1}");
  EXPECT_EQ(error, "config.json:2 (hidden_size): is -1 (allowed: an integer from 1 to 100000000)");
}

TEST(HfConfig, HostileConfigurationsAreErrors) {
  const std::string long_list = [] {
    std::string list = "[\"full_attention\"";
    for (int i = 1; i < 100'000; ++i) {
      list += ",\"full_attention\"";
    }
    return list + "]";
  }();
  const std::vector<std::string> cases = {
      "",
      "[]",
      "3",
      "null",
      R"({"model_type": 3})",
      R"({"model_type": "llama")",
      R"({"model_type": "llama", "hidden_size": NaN})",
      "{\"model_type\": \"lla\xffma\"}",
      std::string(200, '['),
      small("llama", R"("head_dim": 0)"),
      small("llama", R"("head_dim": 1e300)"),
      small("llama", R"("head_dim": "64")"),
      small("llama", R"("head_dim": [64])"),
      small("llama", R"("head_dim": 64.5)"),
      small("llama", R"("attention_bias": 1)"),
      small("llama", R"("num_key_value_heads": 3)"),
      small("llama", R"("num_attention_heads": 5)"),
      small("llama", R"("num_hidden_layers": 10001)"),
      small("llama", R"("vocab_size": 1e18)"),
      small("llama", R"("text_config": 3)"),
      small("olmo3", R"("sliding_window": 9, "layer_types": ["full_attention"])"),
      small("olmo3", R"("sliding_window": 9, "layer_types": ["a", "b", "c", "d"])"),
      small("olmo3", R"("sliding_window": 9, "layer_types": )" + long_list),
      small("olmo3", R"("sliding_window": 9, "sliding_window_pattern": 0)"),
      small("exaone4", R"("sliding_window": 9, "sliding_window_pattern": "")"),
      small("exaone4", R"("sliding_window": 9, "sliding_window_pattern": "XY")"),
      small("gpt_neo", R"("attention_types": [[["global"], 1000000000]])"),
      small("gpt_neo", R"("attention_types": [[3, 4]])"),
      small("gpt_neo", R"("attention_types": [[[], 4]])"),
      small("deepseek_v3", R"("num_experts": 4, "num_experts_per_tok": 8)"),
      small("deepseek_v3", R"("num_experts": 1000000)"),
      small("deepseek_v3", R"("moe_layer_freq": [1])"),
      small("deepseek_v3", R"("mlp_layer_types": ["a", "b", "c", "d"])"),
      small("qwen3_moe", R"("decoder_sparse_step": 0)"),
      small("qwen3_moe", R"("mlp_only_layers": [-1])"),
      small("llama4_text", R"("moe_layers": [4])"),
      small("llama4_text", R"("no_rope_layers": [1])"),
      small("bamba", R"("attn_layer_indices": [4])"),
      small("bamba", R"("mamba_n_heads": 3)"),
      small("nemotron_h", R"("hybrid_override_pattern": "M-*X")"),
      small("nemotron_h", R"("hybrid_override_pattern": "M-*")"),
      small("nemotron_h", R"("hybrid_override_pattern": 4)"),
      small("nemotron_h", R"("hybrid_override_pattern": "")"),
      // Each size is legal, their product is not: 10^8 · 10^8 · 3 a layer.
      small("llama", R"("hidden_size": 100000000, "intermediate_size": 100000000, "head_dim": 64)"),
  };
  for (const std::string& json : cases) {
    const Result<Model> model = parsed(json);
    EXPECT_FALSE(model) << json.substr(0, 400);
    EXPECT_TRUE(model || contains(model.error().where, "config.json")) << to_text(model.error());
  }
}

TEST(HfConfig, WrappersInWrappersEnd) {
  std::string json = small("llama", "");
  for (int i = 0; i < 10; ++i) {
    json.insert(0, R"({"text_config": )");
    json += "}";
  }
  EXPECT_TRUE(contains(error_of(json), "wrapped too often"));
}

TEST(HfConfig, EveryPrefixOfAFileIsAnErrorNotACrash) {
  const std::string json = small("qwen3_moe", R"("mlp_only_layers": [1])");
  for (std::size_t length = 0; length < json.size(); ++length) {
    EXPECT_FALSE(parsed(json.substr(0, length))) << length;
  }
}

}  // namespace
}  // namespace sextant::describe
