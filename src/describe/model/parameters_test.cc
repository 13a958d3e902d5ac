#include "describe/model/parameters.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace sextant::describe {
namespace {

Model one_layer(Block block) {
  Model model;
  model.hidden = 8;
  model.vocab = 10;
  model.blocks = {std::move(block)};
  model.layers = {0};
  return model;
}

Block attention_block(Attention attention) {
  return {.mixer = attention, .ffn = {}, .norms = 0};
}

std::int64_t mixer(const Block& block) {
  const Model model = one_layer(block);
  return block_parameters(model, block).mixer;
}

TEST(BlockParameters, AnEmptyBlockHasNone) {
  const Block block{.mixer = {}, .ffn = {}, .norms = 0};
  EXPECT_EQ(block_parameters(one_layer(block), block).total(), 0);
}

TEST(BlockParameters, AttentionCountsItsFourProjections) {
  const Attention attention{.heads = 4, .kv_heads = 2, .head_dim = 3};
  // q 8·12 + k,v 2·8·6 + o 12·8 = 96 + 96 + 96.
  EXPECT_EQ(mixer(attention_block(attention)), 288);
}

TEST(BlockParameters, AttentionExtrasAddTheirOwnSizes) {
  const Attention plain{.heads = 4, .kv_heads = 2, .head_dim = 3};
  const std::int64_t base = mixer(attention_block(plain));
  Attention changed = plain;
  changed.qkv_bias = true;
  EXPECT_EQ(mixer(attention_block(changed)) - base, 12 + 6 + 6);
  changed = plain;
  changed.output_bias = true;
  EXPECT_EQ(mixer(attention_block(changed)) - base, 8);
  changed = plain;
  changed.output_gate = true;
  EXPECT_EQ(mixer(attention_block(changed)) - base, 8 * 12);
  changed = plain;
  changed.sinks = true;
  EXPECT_EQ(mixer(attention_block(changed)) - base, 4);
  changed = plain;
  changed.qk_norm = QkNorm::kPerHead;
  EXPECT_EQ(mixer(attention_block(changed)) - base, 3 + 3);
  changed = plain;
  changed.qk_norm = QkNorm::kWholeProjection;
  EXPECT_EQ(mixer(attention_block(changed)) - base, 12 + 6);
  changed = plain;
  changed.window = 100;
  changed.rotary = false;
  EXPECT_EQ(mixer(attention_block(changed)), base);
}

TEST(BlockParameters, LatentAttentionOfDeepSeekV3) {
  const LatentAttention v3{.heads = 128,
                           .q_lora_rank = 1536,
                           .kv_lora_rank = 512,
                           .qk_nope_head_dim = 128,
                           .qk_rope_head_dim = 64,
                           .v_head_dim = 128};
  const Block block{.mixer = v3, .ffn = {}, .norms = 0};
  Model model = one_layer(block);
  model.hidden = 7168;
  // q: 7168·1536 + 1536 + 1536·128·192 = 48,760,320; kv: 7168·576 + 512 + 512·128·256 = 20,906,496;
  // out: 128·128·7168 = 117,440,512.
  EXPECT_EQ(block_parameters(model, block).mixer, 48'760'320 + 20'906'496 + 117'440'512);
}

TEST(BlockParameters, TheIndexerAddsItsProjections) {
  LatentAttention attention{.heads = 2,
                            .q_lora_rank = 5,
                            .kv_lora_rank = 3,
                            .qk_nope_head_dim = 2,
                            .qk_rope_head_dim = 1,
                            .v_head_dim = 2};
  const std::int64_t base = mixer({.mixer = attention, .ffn = {}, .norms = 0});
  attention.indexer = {.heads = 3, .head_dim = 4, .topk = 7};
  // queries 5·12, key 8·4, its LayerNorm 2·4, head weights 8·3.
  EXPECT_EQ(mixer({.mixer = attention, .ffn = {}, .norms = 0}) - base, 60 + 32 + 8 + 24);
}

TEST(BlockParameters, Mamba2) {
  const Mamba2 mamba{
      .heads = 4, .head_dim = 4, .groups = 2, .state = 3, .conv_kernel = 4, .chunk = 8};
  // di = 16, 2GN = 12: in 8·(32 + 12 + 4) = 384; conv 28·5 = 140; 3·4; norm 16; out 16·8 = 128.
  EXPECT_EQ(mixer({.mixer = mamba, .ffn = {}, .norms = 0}), 384 + 140 + 12 + 16 + 128);
}

TEST(BlockParameters, GatedDeltaNet) {
  const GatedDeltaNet net{
      .key_heads = 2, .value_heads = 4, .key_head_dim = 3, .value_head_dim = 5, .conv_kernel = 4};
  // in 8·(12 + 40), gates 8·8, conv (12 + 20)·4, A and Δ 2·4, norm 5, out 20·8.
  EXPECT_EQ(mixer({.mixer = net, .ffn = {}, .norms = 0}), 416 + 64 + 128 + 8 + 5 + 160);
}

TEST(BlockParameters, DenseFfnIsTwoOrThreeMatrices) {
  const auto size = [](const DenseFfn& ffn) {
    const Block block{.mixer = {}, .ffn = ffn, .norms = 0};
    return block_parameters(one_layer(block), block).dense_ffn;
  };
  EXPECT_EQ(size({.width = 5, .gated = true}), 3 * 8 * 5);
  EXPECT_EQ(size({.width = 5, .gated = false}), 2 * 8 * 5);
  EXPECT_EQ(size({.width = 5, .gated = false, .bias = true}), 2 * 8 * 5 + 5 + 8);
}

TEST(BlockParameters, ExpertsAreCountedAllAndActive) {
  const MoeFfn ffn{.experts = 6,
                   .topk = 2,
                   .width = 5,
                   .shared_width = 7,
                   .correction_bias = true,
                   .shared_gate = true};
  const Block block{.mixer = {}, .ffn = ffn, .norms = 2};
  const BlockParameters parts = block_parameters(one_layer(block), block);
  EXPECT_EQ(parts.router, 8 * 6 + 6);
  EXPECT_EQ(parts.routed_experts, 6 * 120);
  EXPECT_EQ(parts.active_experts, 2 * 120);
  EXPECT_EQ(parts.shared_experts, 3 * 8 * 7 + 8);
  EXPECT_EQ(parts.norms, 16);
  EXPECT_EQ(parts.total() - parts.active(), 4 * 120);
}

TEST(BlockParameters, LatentExpertsAreNarrowAndProjectTwice) {
  const MoeFfn ffn{.experts = 6, .topk = 2, .width = 5, .latent_width = 4, .gated = false};
  const Block block{.mixer = {}, .ffn = ffn, .norms = 0};
  const BlockParameters parts = block_parameters(one_layer(block), block);
  EXPECT_EQ(parts.routed_experts, 6 * 2 * 4 * 5);
  EXPECT_EQ(parts.shared_experts, 2 * 8 * 4);
}

TEST(ModelParameters, EndsOfTheModel) {
  Model model = one_layer({.mixer = {}, .ffn = {}, .norms = 2});
  EXPECT_EQ(model_parameters(model).total(), 80 + 80 + 8 + 16);
  model.tied_head = true;
  EXPECT_EQ(model_parameters(model).head, 0);
  model.head_bias = true;
  EXPECT_EQ(model_parameters(model).head, 10);
  model.learned_positions = 3;
  EXPECT_EQ(model_parameters(model).positions, 24);
  model.norm.has_bias = true;
  model.embedding_norm = true;
  EXPECT_EQ(model_parameters(model).final_norm, 2 * 16);
  model.norm = {.has_weight = false};
  EXPECT_EQ(model_parameters(model).final_norm, 0);
}

TEST(ModelParameters, MultiTokenPredictionIsOutsideTheTotal) {
  Model model = one_layer({.mixer = {}, .ffn = DenseFfn{.width = 5}, .norms = 2});
  const std::int64_t before = model_parameters(model).total();
  model.mtp_layers = 2;
  // Each depth: the block 120 + 16, a projection 16·8, three norms of 8.
  EXPECT_EQ(model_parameters(model).mtp, 2 * (136 + 128 + 24));
  EXPECT_EQ(model_parameters(model).total(), before);
}

TEST(CheckSize, AcceptsWhatItCanCount) {
  EXPECT_TRUE(check_size(one_layer({.mixer = {}, .ffn = DenseFfn{.width = 5}})));
}

TEST(CheckSize, RefusesSizesThatAreNotPositive) {
  EXPECT_FALSE(check_size(Model()));
  EXPECT_FALSE(check_size(one_layer({.mixer = Attention{}, .ffn = {}})));
  EXPECT_FALSE(check_size(one_layer({.mixer = LatentAttention{}, .ffn = {}})));
  EXPECT_FALSE(check_size(one_layer({.mixer = Mamba2{}, .ffn = {}})));
  EXPECT_FALSE(check_size(one_layer({.mixer = GatedDeltaNet{}, .ffn = {}})));
  EXPECT_FALSE(check_size(one_layer({.mixer = {}, .ffn = DenseFfn{.width = -1}})));
  EXPECT_FALSE(
      check_size(one_layer({.mixer = {}, .ffn = MoeFfn{.experts = 1, .topk = 2, .width = 1}})));
  Model model = one_layer({.mixer = {}, .ffn = {}});
  model.layers = {1};
  EXPECT_FALSE(check_size(model));
  model.layers = {0};
  model.mtp_layers = 1;
  model.mtp_block = -1;
  EXPECT_FALSE(check_size(model));
}

TEST(CheckSize, RefusesWhatWouldOverflow) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  Model model =
      one_layer({.mixer = {}, .ffn = MoeFfn{.experts = kHuge, .topk = 1, .width = kHuge}});
  model.hidden = kHuge;
  EXPECT_FALSE(check_size(model));
  // 10^16 exactly: a vocabulary of 10^8 over a hidden size of 10^8, tied.
  model = one_layer({.mixer = {}, .ffn = {}, .norms = 0});
  model.hidden = 100'000'000;
  model.vocab = 100'000'000;
  model.tied_head = true;
  model.final_norm = false;
  EXPECT_TRUE(check_size(model));
  model.final_norm = true;
  EXPECT_FALSE(check_size(model));
}

TEST(CheckSize, BoundsABlockThatNoLayerUses) {
  Model model = one_layer({.mixer = {}, .ffn = DenseFfn{.width = 5}});
  constexpr std::int64_t kLarge = 1'000'000'000'000'000'000;
  model.blocks.push_back({.mixer = {}, .ffn = DenseFfn{.width = kLarge}});
  EXPECT_FALSE(check_size(model));
}

}  // namespace
}  // namespace sextant::describe
