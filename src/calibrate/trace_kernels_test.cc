#include "calibrate/trace_kernels.h"

#include <gtest/gtest.h>

namespace sextant::calibrate {
namespace {

using metrics::WorkPass;
using metrics::WorkRow;
using timeline::ElementType;
using timeline::OperatorUse;
using timeline::ProductUnit;
using timeline::Tensor;

WorkRow row(WorkPass pass, std::vector<std::vector<std::int64_t>> inputs, std::int64_t time_ns) {
  WorkRow made{.pass = pass};
  made.name = "aten::mm";
  made.use = OperatorUse::kProduct;
  made.unit = ProductUnit::kTensor;
  for (std::vector<std::int64_t>& dims : inputs) {
    made.inputs.push_back({std::move(dims), ElementType::kBfloat16});
  }
  made.time.add(time_ns);
  return made;
}

metrics::Summary summary_of(std::vector<WorkRow> rows) {
  metrics::Summary summary;
  summary.ranks.push_back({.rank = RankId{0}});
  summary.ranks[0].device_work.rows = std::move(rows);
  return summary;
}

const std::string kTracedHeader = "kind,variant,dtype,a,b,c,d,e,f,time_us\n";

// 100 rows of tokens, 30 results, 20 inputs: its gradients are 100 × 30 · 30 × 20 and
// 30 × 100 · 100 × 20.
TEST(TraceKernels, GradientsAreToldByTheSizesOfTheForwardProduct) {
  const std::string table =
      traced_kernels(summary_of({row(WorkPass::kForward, {{100, 20}, {20, 30}}, 90'000),
                                 row(WorkPass::kBackward, {{100, 30}, {30, 20}}, 80'000),
                                 row(WorkPass::kBackward, {{30, 100}, {100, 20}}, 70'000),
                                 row(WorkPass::kBackward, {{7, 100}, {100, 20}}, 60'000)}));
  EXPECT_EQ(table, kTracedHeader +
                       "gemm,fprop,bf16,100,30,20,,,,90\n"
                       "gemm,dgrad,bf16,100,30,20,,,,80\n"
                       "gemm,wgrad,bf16,100,30,20,,,,70\n");
}

TEST(TraceKernels, ShortOnesTellMoreOfTheHostThanOfTheDevice) {
  EXPECT_EQ(traced_kernels(summary_of({row(WorkPass::kForward, {{100, 20}, {20, 30}}, 49'999)})),
            kTracedHeader);
}

// Batch 2, 4 heads, 64 long, 16 wide: 2·2·64²·4·16·2 FLOPs, half where masked.
TEST(TraceKernels, AttentionIsThatWithACausalMask) {
  WorkRow attention =
      row(WorkPass::kForward, {{2, 4, 64, 16}, {2, 4, 64, 16}, {2, 4, 64, 16}}, 80'000);
  attention.name = "aten::_cudnn_attention_forward";
  attention.use = OperatorUse::kAttention;
  attention.stated_flops = 1;
  const double whole = 4.0 * 2 * 4 * 64 * 64 * 16;
  WorkRow masked = attention;
  masked.flops.add(whole / 2);
  attention.flops.add(whole);
  EXPECT_EQ(traced_kernels(summary_of({masked})),
            kTracedHeader + "attention,cudnn-fwd,bf16,2,4,4,64,16,,80\n");
  EXPECT_EQ(traced_kernels(summary_of({attention})), kTracedHeader);
}

}  // namespace
}  // namespace sextant::calibrate
