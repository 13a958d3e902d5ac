// PyTorch, op by op: logits in half precision become an fp32 copy, whose log-softmax is kept (4
// bytes); the backward holds the gradient of the log-softmax and of the logits beside it (8 more).
// Measured: peak − after_forward of truth/h200/memory.csv is 8 bytes an element in every row.
//
// Megatron: half-precision logits, an fp32 copy turned into its softmax in place, and the fp32
// gradient (10 bytes in bf16; the last stage of the rows of sail-sg/VocabularyParallelism with 256k
// tokens shows 10). The native fusion works on the fp32 copy in place and writes a half-precision
// gradient; Transformer Engine's writes the gradient over the logits.
// Source: Megatron-LM d98e8a64, tensor_parallel/cross_entropy.py, fusions/fused_cross_entropy.py;
// TransformerEngine 2.11, common/triton/cross_entropy.py.
#include "cost/memory/loss_copies.h"

namespace sextant::cost {

using describe::LossKernel;
using workload::Dialect;

LossCopies loss_copies(LossKernel kernel, const workload::SavedRules& rules) {
  constexpr double kFp32 = 4.0;
  constexpr double kChunk = 3.0 * kFp32 / 8.0;
  const double element = rules.element;
  const bool megatron = rules.dialect == Dialect::kMegatron || rules.dialect == Dialect::kLegacy;
  switch (kernel) {
    case LossKernel::kChunked:
      // torchtune: half-precision logits and their gradient in full, fp32 work an eighth at a time.
      return {.kept = element, .forward = kChunk, .temporary = element + kChunk};
    case LossKernel::kInPlace:
      return {.kept = element, .forward = 0.0, .temporary = 0.0};
    case LossKernel::kFused:
      return megatron ? LossCopies{.kept = element + kFp32, .forward = 0.0, .temporary = element}
                      : LossCopies{.kept = element, .forward = 0.0, .temporary = element};
    case LossKernel::kPlain:
      break;
  }
  if (megatron) {
    return {.kept = element + kFp32, .forward = 0.0, .temporary = kFp32};
  }
  const double copy = element < kFp32 ? kFp32 : 0.0;
  // DTensor's loss over a split vocabulary spells the softmax's backward out: one copy more.
  const double split = rules.gathered > 1.0 ? kFp32 : 0.0;
  return {.kept = kFp32, .forward = element + copy + split, .temporary = 2.0 * kFp32 + split};
}

double final_norm_bytes(const describe::Model& model, const workload::SavedRules& rules) {
  double bytes = 0.0;
  auto sink = [&bytes](workload::Part, std::string_view, double size, workload::PartMask) {
    bytes += size;
  };
  workload::saved::norm(model, rules, {workload::Part::kFinalNorm, 1.0, 1.0, 1.0}, sink);
  return bytes - workload::saved::norm_statistics(model);
}

}  // namespace sextant::cost
