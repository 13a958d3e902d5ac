#include "diagnose/work_kind.h"

#include <array>
#include <string>
#include <utility>

#include "base/text.h"

namespace sextant::diagnose {
namespace {

struct NamePart {
  std::string_view part;  // in lower case
  WorkKind kind;
};

// The first that a name holds counts. Names: flash-attention, cuDNN, xFormers, AMD's CK and
// AOTriton; cuBLAS (nvjet, xmma_gemm, gemv, splitk), CUTLASS, Tensile (Cijk_), DeepGEMM; PyTorch's
// and Apex's kernels, TorchInductor's (triton_poi: pointwise, triton_red and triton_per:
// reductions), XLA's fusions.
constexpr std::array kNameParts{
    NamePart{"attn", WorkKind::kAttention},
    NamePart{"attention", WorkKind::kAttention},
    NamePart{"fmha", WorkKind::kAttention},
    NamePart{"sdpa", WorkKind::kAttention},
    NamePart{"flash_fwd", WorkKind::kAttention},
    NamePart{"flash_bwd", WorkKind::kAttention},
    NamePart{"convol", WorkKind::kConvolution},
    NamePart{"conv2d", WorkKind::kConvolution},
    NamePart{"conv_", WorkKind::kConvolution},
    NamePart{"wgrad_", WorkKind::kConvolution},
    NamePart{"dgrad_", WorkKind::kConvolution},
    NamePart{"fprop", WorkKind::kConvolution},
    NamePart{"winograd", WorkKind::kConvolution},
    NamePart{"multi_tensor", WorkKind::kOptimizer},
    NamePart{"multitensor", WorkKind::kOptimizer},
    NamePart{"adam", WorkKind::kOptimizer},
    NamePart{"gemm", WorkKind::kMatrixProduct},
    NamePart{"gemv", WorkKind::kMatrixProduct},
    NamePart{"gemmsn", WorkKind::kMatrixProduct},
    NamePart{"splitk", WorkKind::kMatrixProduct},
    NamePart{"nvjet", WorkKind::kMatrixProduct},
    NamePart{"cutlass", WorkKind::kMatrixProduct},
    NamePart{"cijk_", WorkKind::kMatrixProduct},
    NamePart{"matmul", WorkKind::kMatrixProduct},
    NamePart{"softmax", WorkKind::kSoftmaxAndLoss},
    NamePart{"cross_entropy", WorkKind::kSoftmaxAndLoss},
    NamePart{"crossentropy", WorkKind::kSoftmaxAndLoss},
    NamePart{"nll_loss", WorkKind::kSoftmaxAndLoss},
    NamePart{"nllloss", WorkKind::kSoftmaxAndLoss},
    NamePart{"layer_norm", WorkKind::kNorm},
    NamePart{"layernorm", WorkKind::kNorm},
    NamePart{"rmsnorm", WorkKind::kNorm},
    NamePart{"rms_norm", WorkKind::kNorm},
    NamePart{"batch_norm", WorkKind::kNorm},
    NamePart{"batchnorm", WorkKind::kNorm},
    NamePart{"bn_fw", WorkKind::kNorm},
    NamePart{"bn_bw", WorkKind::kNorm},
    NamePart{"gammabeta", WorkKind::kNorm},
    NamePart{"embedding", WorkKind::kIndexing},
    NamePart{"indexselect", WorkKind::kIndexing},
    NamePart{"index_", WorkKind::kIndexing},
    NamePart{"gather", WorkKind::kIndexing},
    NamePart{"scatter", WorkKind::kIndexing},
    NamePart{"reduce", WorkKind::kReduction},
    NamePart{"triton_red", WorkKind::kReduction},
    NamePart{"triton_per", WorkKind::kReduction},
    NamePart{"elementwise", WorkKind::kElementwise},
    NamePart{"catarray", WorkKind::kElementwise},
    NamePart{"triton_poi", WorkKind::kElementwise},
    NamePart{"loop_", WorkKind::kElementwise},
    NamePart{"input_", WorkKind::kElementwise},
    NamePart{"dropout", WorkKind::kElementwise},
    NamePart{"transpose", WorkKind::kElementwise},
};

constexpr std::array<std::string_view, kWorkKinds> kKindNames{
    "attention",        "matrix products", "convolutions", "norms",
    "softmax and loss", "optimizer",       "indexing",     "reductions",
    "elementwise",      "communication",   "copies",       "other"};

}  // namespace

std::string_view name_of(WorkKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

WorkKind work_kind(std::string_view kernel, timeline::SpanKind span) {
  if (span == timeline::SpanKind::kCommunication) {
    return WorkKind::kCommunication;
  }
  if (span == timeline::SpanKind::kCopy) {
    return WorkKind::kCopy;
  }
  const std::string name = to_lower(kernel);
  for (const NamePart& one : kNameParts) {
    if (name.find(one.part) != std::string::npos) {
      return one.kind;
    }
  }
  return WorkKind::kOther;
}

}  // namespace sextant::diagnose
