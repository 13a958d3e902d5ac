#include "diagnose/work_kind.h"

#include <gtest/gtest.h>

namespace sextant::diagnose {
namespace {

using timeline::SpanKind;

struct Named {
  const char* kernel;
  WorkKind kind;
};

// Names as profiles of these makers have them.
TEST(WorkKind, OneWorkIsOneKindWhoeverMadeTheKernel) {
  for (const Named& one : {
           Named{"flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128>>", WorkKind::kAttention},
           Named{"attn_fwd", WorkKind::kAttention},
           Named{"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16",
                 WorkKind::kAttention},
           Named{"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", WorkKind::kMatrixProduct},
           Named{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", WorkKind::kMatrixProduct},
           Named{"Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV", WorkKind::kMatrixProduct},
           Named{"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32>", WorkKind::kMatrixProduct},
           Named{"void cublasLt::splitKreduce_kernel<32, 16>", WorkKind::kMatrixProduct},
           Named{"sm80_xmma_wgrad_implicit_gemm_indexed_tf32", WorkKind::kConvolution},
           Named{"vectorized_layer_norm_kernel<float>", WorkKind::kNorm},
           Named{"void multi_tensor_apply_kernel<FusedAdamMathFunctor>", WorkKind::kOptimizer},
           Named{"cunn_SoftMaxForward", WorkKind::kSoftmaxAndLoss},
           Named{"indexSelectLargeIndex<BFloat16>", WorkKind::kIndexing},
           Named{"reduce_kernel<512, 1, ReduceOp<float>>", WorkKind::kReduction},
           Named{"vectorized_elementwise_kernel<4, silu_kernel>", WorkKind::kElementwise},
           Named{"CatArrayBatchedCopy<OpaqueType<2u>>", WorkKind::kElementwise},
           Named{"triton_red_fused_mean_3", WorkKind::kReduction},
           Named{"my_own_kernel", WorkKind::kOther},
       }) {
    EXPECT_EQ(name_of(work_kind(one.kernel, SpanKind::kCompute)), name_of(one.kind)) << one.kernel;
  }
}

TEST(WorkKind, WhatMovesDataIsToldByTheRecorder) {
  EXPECT_EQ(work_kind("ncclDevKernel_ReduceScatter", SpanKind::kCommunication),
            WorkKind::kCommunication);
  EXPECT_EQ(work_kind("Memcpy HtoD", SpanKind::kCopy), WorkKind::kCopy);
}

}  // namespace
}  // namespace sextant::diagnose
