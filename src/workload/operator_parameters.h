// What the parameters themselves pass through in every microbatch, whatever they are used for:
// casts to the compute format, 8-bit copies, gradients cast and accumulated outside the products.
//
// Megatron keeps parameters in the compute format, adds gradients up inside the products and
// makes 8-bit copies once a step, so it has none of this.
#pragma once

#include "describe/layout/job.h"
#include "workload/operator.h"
#include "workload/shard.h"
#include "workload/weights.h"

namespace sextant::workload {

// Bytes through memory for each parameter of a rank's (unsharded) share, per microbatch.
struct ParameterStreams {
  double cast_read = 0.0;  // to the compute format, before the forward
  double cast_written = 0.0;
  bool cast_again = false;      // and before the backward (ZeRO-3 that frees what it gathered)
  double gathered = 0.0;        // copied out of the gathered buffer, before the forward …
  bool gathered_again = false;  // … and before the backward
  double quantise_read = 0.0;   // to the 8- or 4-bit format, both ways round
  double quantise_written = 0.0;
  double gradient_read = 0.0;  // of a gradient, to the format it is reduced in
  double gradient_written = 0.0;
  double widened = 0.0;          // of a gradient's elements there: found by index or widened
  double kernels = 1.0;          // a cast takes: one a matrix, or one for all
  double accumulate_read = 0.0;  // of a gradient, added to that of earlier microbatches
  double accumulate_written = 0.0;
  double dense_share = 1.0;  // of the rank's parameters: what ZeRO leaves it to cast
  double expert_share = 1.0;
  double dense_gradient_share = 1.0;  // and to accumulate
  double expert_gradient_share = 1.0;
  [[nodiscard]] bool any() const {
    return cast_read + gathered + quantise_read + gradient_read + accumulate_read > 0.0;
  }
  bool operator==(const ParameterStreams&) const = default;
};

ParameterStreams parameter_streams(const describe::Job& job, const describe::Layout& layout,
                                   const Shard& shard);

// `elements` parameters through memory once.
[[gnu::always_inline]] inline Operator parameter_pass(OpKind kind, Pass pass, double elements,
                                                      double read, double written) {
  return {.kind = kind,
          .pass = pass,
          .part = Part::kOptimizer,
          .dtype = describe::DType::kFp32,
          .m = 1,
          .n = static_cast<std::int64_t>(elements),
          .read = Bytes(elements * read),
          .written = Bytes(elements * written)};
}

template <class Emit>
void emit_parameter_streams(const ParameterStreams& streams, const Weights& weights, Emit& emit) {
  const auto dense = static_cast<double>(weights.dense);
  const auto experts = static_cast<double>(weights.experts);
  const double cast = dense * streams.dense_share + experts * streams.expert_share;
  const double kept =
      dense * streams.dense_gradient_share + experts * streams.expert_gradient_share;
  if (streams.cast_read > 0.0) {
    Operator op = parameter_pass(OpKind::kCast, Pass::kForward, cast, streams.cast_read,
                                 streams.cast_written);
    op.kernels = streams.kernels;
    emit(op, Part::kOptimizer);
    if (streams.cast_again) {
      op.pass = Pass::kInputGradient;
      emit(op, Part::kOptimizer);
    }
  }
  if (streams.gathered > 0.0) {
    Operator op = parameter_pass(OpKind::kCopy, Pass::kForward, dense + experts, streams.gathered,
                                 streams.gathered);
    emit(op, Part::kOptimizer);
    if (streams.gathered_again) {
      op.pass = Pass::kInputGradient;
      emit(op, Part::kOptimizer);
    }
  }
  if (streams.quantise_read > 0.0) {
    emit(parameter_pass(OpKind::kQuantise, Pass::kForward, dense + experts, streams.quantise_read,
                        streams.quantise_written),
         Part::kOptimizer);
  }
  if (streams.gradient_read > 0.0) {
    Operator op = parameter_pass(OpKind::kCast, Pass::kWeightGradient, dense + experts,
                                 streams.gradient_read, streams.gradient_written);
    op.kernels = streams.kernels;
    op.indexed = (dense + experts) * streams.widened;
    emit(op, Part::kOptimizer);
  }
  if (streams.accumulate_read > 0.0) {
    emit(parameter_pass(OpKind::kCopy, Pass::kWeightGradient, kept, streams.accumulate_read,
                        streams.accumulate_written),
         Part::kOptimizer);
  }
}

}  // namespace sextant::workload
