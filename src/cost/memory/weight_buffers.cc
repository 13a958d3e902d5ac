#include "cost/memory/weight_buffers.h"

#include "base/integers.h"
#include "describe/layout/precision.h"

namespace sextant::cost {

using describe::Framework;

int quantised_copies(const describe::Job& job, const describe::Layout& layout) {
  if (!describe::is_quantised(layout.precision)) {
    return 0;
  }
  // Blackwell multiplies 8-bit matrices of any orientation; before it, each has its transpose.
  // Source: TransformerEngine 2.11, utils.py (is_non_tn_fp8_gemm_supported).
  const bool any_layout = job.cluster.device.generation.starts_with("blackwell") &&
                          layout.precision == describe::Precision::kFp8;
  return (any_layout ? 1 : 2) - (layout.parameters == describe::Storage::kFp8 ? 1 : 0);
}

bool fetches_by_matrix(Framework framework) {
  return framework == Framework::kDeepspeed || framework == Framework::kMegatronDeepspeed ||
         framework == Framework::kMaxtext;
}

double fetched_parameters(Framework framework, const workload::Weights& largest_layer) {
  constexpr double kMatricesOfALayer = 3.0;
  return as_double(largest_layer.total()) /
         (fetches_by_matrix(framework) ? kMatricesOfALayer : 1.0);
}

}  // namespace sextant::cost
