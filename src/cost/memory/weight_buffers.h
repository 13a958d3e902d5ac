// How frameworks hold weights and gradients a second time: choices that the sums of a rank and
// their explanation share.
#pragma once

#include "describe/layout/job.h"
#include "workload/weights.h"

namespace sextant::cost {

// Elements of the bucket that DeepSpeed copies gradients into before it reduces them.
// Source: DeepSpeed edaa7221, runtime/zero/stage_1_and_2.py (reduce_bucket_size).
inline constexpr double kBucketElements = 5e8;

// Quantised copies of each matrix of a layer that Transformer Engine keeps beside the parameters:
// 0 where nothing is quantised, else row-wise and column-wise, less the one that the parameters
// themselves are.
int quantised_copies(const describe::Job& job, const describe::Layout& layout);

// Parameters that ZeRO-3 gathers at once: a layer. DeepSpeed and XLA fetch matrix by matrix, of
// which a layer has about three of the largest kind.
bool fetches_by_matrix(describe::Framework framework);
double fetched_parameters(describe::Framework framework, const workload::Weights& largest_layer);

}  // namespace sextant::cost
