#include "measured/flops_convention.h"

#include <gtest/gtest.h>

namespace sextant::measured {
namespace {

// A GPT of L layers: heads · head_dim = h, feed-forward 4 h, untied head.
describe::Model gpt(std::int64_t layers, std::int64_t hidden, std::int64_t vocab) {
  describe::Model model;
  model.hidden = hidden;
  model.vocab = vocab;
  describe::Block block;
  block.mixer = describe::Attention{.heads = hidden / 64, .kv_heads = hidden / 64, .head_dim = 64};
  block.ffn = describe::DenseFfn{.width = 4 * hidden, .gated = false};
  model.blocks.push_back(block);
  model.layers.assign(static_cast<std::size_t>(layers), 0);
  return model;
}

TEST(FlopsConvention, CodesAreReadFromTheBeginning) {
  EXPECT_EQ(flops_convention("MODEL_CAUSAL: 6*matmul"), FlopsConvention::kModelCausal);
  EXPECT_EQ(flops_convention("MODEL_FULL"), FlopsConvention::kModelFull);
  EXPECT_EQ(flops_convention("PARAM6N_FULL: x"), FlopsConvention::kParamFull);
  EXPECT_EQ(flops_convention("HW_FULL: x"), FlopsConvention::kHardwareFull);
  for (const char* other : {"", "MFU: x", "OTHER: MODEL_CAUSAL plus one", "UNKNOWN_MODEL"}) {
    EXPECT_FALSE(flops_convention(other)) << other;
  }
}

TEST(FlopsConvention, HardwareCountIsNarayanansFormula) {
  // 96 B s L h² (1 + s/6h + V/16Lh), a token: 96 L h² (1 + …). arXiv:2104.04473, section 3.
  const double layers = 96.0;
  const double hidden = 12288.0;
  const double vocab = 51200.0;
  const double seq = 2048.0;
  const double formula = 96.0 * layers * hidden * hidden *
                         (1.0 + seq / (6.0 * hidden) + vocab / (16.0 * layers * hidden));
  const Flops counted =
      flops_per_token(gpt(96, 12288, 51200), 2048, FlopsConvention::kHardwareFull);
  EXPECT_NEAR(counted.base() / formula, 1.0, 1e-12);
}

TEST(FlopsConvention, ModelCountIsThreeQuartersOfHardwareWithoutHead) {
  const describe::Model model = gpt(4, 1024, 1);
  const double full = flops_per_token(model, 512, FlopsConvention::kModelFull).base();
  const double hardware = flops_per_token(model, 512, FlopsConvention::kHardwareFull).base();
  EXPECT_NEAR(full / hardware, 0.75, 1e-3);
}

TEST(FlopsConvention, CausalHalvesOnlyAttention) {
  const describe::Model model = gpt(2, 512, 1000);
  const double full = flops_per_token(model, 4096, FlopsConvention::kModelFull).base();
  const double causal = flops_per_token(model, 4096, FlopsConvention::kModelCausal).base();
  // Attention forward and backward, a token and layer: 12 · h · s; half of it, two layers.
  EXPECT_DOUBLE_EQ(full - causal, 2.0 * 6.0 * 512.0 * 4096.0);
}

TEST(FlopsConvention, AWindowBoundsTheAttendedLength) {
  describe::Model model = gpt(1, 512, 1000);
  const double all = flops_per_token(model, 4096, FlopsConvention::kModelFull).base();
  std::get<describe::Attention>(model.blocks[0].mixer).window = 128;
  const double windowed = flops_per_token(model, 4096, FlopsConvention::kModelFull).base();
  EXPECT_DOUBLE_EQ(all - windowed, 12.0 * 512.0 * (4096.0 - 128.0));
}

TEST(FlopsConvention, OnlyActiveExpertsCount) {
  describe::Model model = gpt(1, 512, 1000);
  const auto with_experts = [&](std::int64_t experts) {
    model.blocks[0].ffn = describe::MoeFfn{.experts = experts, .topk = 2, .width = 256};
    return flops_per_token(model, 128, FlopsConvention::kModelFull).base();
  };
  // Only the router grows: 6 · h a further expert.
  EXPECT_DOUBLE_EQ(with_experts(9) - with_experts(8), 6.0 * 512.0);
}

}  // namespace
}  // namespace sextant::measured
