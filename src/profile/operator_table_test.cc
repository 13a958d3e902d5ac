#include "profile/operator_table.h"

#include <gtest/gtest.h>

#include "profile/tensor_words.h"
#include "profile/testing.h"

namespace sextant::profile {
namespace {

using timeline::ElementType;
using timeline::OperatorUse;
using timeline::ProductUnit;
using timeline::Tensor;

OperatorAmounts amounts(std::string_view name, const std::vector<std::optional<Tensor>>& inputs,
                        std::optional<bool> is_causal = std::nullopt) {
  const OperatorFacts* facts = table_of_operators().of(name);
  EXPECT_NE(facts, nullptr) << name;
  return facts == nullptr
             ? OperatorAmounts{}
             : amounts_of(
                   *facts,
                   {.inputs = inputs, .is_causal = is_causal, .writes_first = name.ends_with('_')});
}

Tensor bf16(std::vector<std::int64_t> dims) {
  return {std::move(dims), ElementType::kBfloat16};
}
Tensor fp32(std::vector<std::int64_t> dims) {
  return {std::move(dims), ElementType::kFloat32};
}

void expect(const OperatorAmounts& amounts, double flops, double bytes) {
  ASSERT_TRUE(amounts.flops);
  ASSERT_TRUE(amounts.bytes);
  EXPECT_DOUBLE_EQ(amounts.flops->base(), flops);
  EXPECT_DOUBLE_EQ(amounts.bytes->base(), bytes);
}

TEST(OperatorTable, ProductsTakeTwoFlopsAMultiplication) {
  // 2·8·16·4; (8·4 + 4·16 + 8·16)·2 B.
  expect(amounts("aten::mm", {bf16({8, 4}), bf16({4, 16})}), 1024, 448);
  // The added row of 16 is read, too.
  expect(amounts("aten::addmm", {bf16({16}), bf16({8, 4}), bf16({4, 16})}), 1024, 480);
  expect(amounts("aten::bmm", {bf16({3, 8, 4}), bf16({3, 4, 16})}), 3 * 1024, 3 * 448);
}

TEST(OperatorTable, AttentionTakesTwoProductsAndBackwardFive) {
  const Tensor q = bf16({2, 4, 64, 16});  // batch, heads, length, size
  const double scores = 2.0 * 4 * 64 * 64;
  const double size = 2.0 * 4 * 64 * 16 * 2;  // bytes of one
  const std::string_view forward = "aten::_cudnn_attention_forward";
  expect(amounts(forward, {q, q, q}, false), scores * 2 * 2 * 16, 4 * size);
  expect(amounts(forward, {q, q, q}, true), scores * 2 * 16, 4 * size);
  expect(amounts("aten::_cudnn_attention_backward", {q, q, q, q}, true), scores * 5 * 16, 8 * size);
  // Whether it is masked is not recorded: how much it computes is not known.
  EXPECT_FALSE(amounts(forward, {q, q, q}).flops);
  EXPECT_TRUE(amounts(forward, {q, q, q}).bytes);
  // Length and heads the other way round.
  const Tensor other = bf16({2, 64, 4, 16});
  expect(amounts("aten::_flash_attention_forward", {other, other, other}, true), scores * 2 * 16,
         4 * size);
}

TEST(OperatorTable, WhatStreamsReadsItsInputsAndWritesTheirBroadcast) {
  expect(amounts("aten::mul", {fp32({8, 16}), fp32({8, 1})}), 128, (128 + 8 + 128) * 4);
  expect(amounts("aten::mul", {fp32({8, 16}), Tensor{{}, ElementType::kFloat64}}), 128, 256 * 4);
  // Promoted to 32 bits; in place to what stands there.
  expect(amounts("aten::add", {fp32({100}), bf16({100})}), 100, 400 + 200 + 400);
  expect(amounts("aten::add_", {bf16({100}), fp32({100})}), 100, 200 + 400 + 200);
  expect(amounts("aten::copy_", {fp32({100}), bf16({100})}), 0, 600);
  expect(amounts("aten::fill_", {fp32({100})}), 0, 400);
  expect(amounts("aten::sum", {fp32({100, 2})}), 200, 800);
}

TEST(OperatorTable, WhatShapesDoNotTellIsUnknown) {
  EXPECT_FALSE(amounts("aten::mm", {}).flops);
  EXPECT_FALSE(amounts("aten::mm", {bf16({8, 4}), bf16({5, 16})}).flops);
  EXPECT_FALSE(amounts("aten::mm", {Tensor{{8, 4}}, Tensor{{4, 16}}}).bytes);
  EXPECT_FALSE(amounts("aten::_fused_adamw_", {bf16({8})}).bytes);
  EXPECT_EQ(table_of_operators().of("aten::view"), nullptr);
  // One row of 300 tokens, of four sequences of any lengths.
  const Tensor row = bf16({1, 300, 8, 64});
  EXPECT_TRUE(amounts("aten::_flash_attention_forward", {row, row, row}, false).flops);
  const Tensor ends{{5}, ElementType::kInt32};
  EXPECT_FALSE(amounts("aten::_flash_attention_forward", {row, row, row, ends, ends}, false).flops);
}

TEST(OperatorTable, ShapesAreOfOneInputEach) {
  const std::vector<TensorShape> shapes = tensor_shapes("[[4, 2048], [], [[2], [3, 5]], [7]]");
  EXPECT_EQ(shapes, (std::vector<TensorShape>{{4, 2048}, {}, {}, {7}}));
  EXPECT_EQ(tensor_shapes("]]]["), std::vector<TensorShape>());
}

TEST(OperatorTable, RefusesRowsThatSayNothing) {
  const std::string head = "operator,use,count,causal,source\n";
  EXPECT_TRUE(OperatorTable::parse(head + "aten::mm,product,product:0,,x\n", "t.csv"));
  for (const char* row : {"aten::mm,produce,product:0,,x\n", "aten::mm,product,product,,x\n",
                          "aten::mm,product,product:0,,\n", "a,attention,attention:0:bsdh,,x\n",
                          "a,attention,attention:0:bhsd,-1,x\n"}) {
    EXPECT_FALSE(OperatorTable::parse(head + row, "t.csv")) << row;
  }
}

// Kernels as they stand in profiles: what multiplies, and what they do.
TEST(OperatorTable, NamesOfKernelsSayWhatMultiplies) {
  struct Named {
    std::string_view kernel;
    ProductUnit unit;
  };
  for (const Named& one :
       {Named{"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", ProductUnit::kTensor},
        Named{"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_"
              "aligna4_alignc4_execute_kernel__5x_cublas",
              ProductUnit::kVector},
        Named{"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>(cutlass_80)",
              ProductUnit::kVector},
        Named{"volta_sgemm_128x32_nt", ProductUnit::kVector},
        Named{"void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_128x128_32x5_tn>",
              ProductUnit::kTensor},
        Named{"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align1>",
              ProductUnit::kTensorTf32},
        Named{"ampere_fp16_s1688gemm_fp16_256x64_ldg8_f2f_tn", ProductUnit::kTensor},
        Named{"volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", ProductUnit::kTensor},
        Named{"sm80_xmma_gemm_tf32f32_tf32f32_f32_nn_n_tilesize128x128x16",
              ProductUnit::kTensorTf32},
        Named{"Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x64_MI16x16x1_SN",
              ProductUnit::kTensor}}) {
    const Recognised what = table_of_names().of(one.kernel);
    EXPECT_EQ(what.unit, one.unit) << one.kernel;
    EXPECT_EQ(what.use, OperatorUse::kProduct) << one.kernel;
  }
  EXPECT_EQ(table_of_names()
                .of("void at::native::vectorized_elementwise_kernel<4, at::native::"
                    "CUDAFunctor_add<float>, std::array<char*, 3ul> >")
                .use,
            OperatorUse::kElementwise);
  EXPECT_EQ(table_of_names()
                .of("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7"
                    "_64x128x64_4x1x1_cga1x1x1_kernel0_0")
                .use,
            OperatorUse::kAttention);
}

}  // namespace
}  // namespace sextant::profile
