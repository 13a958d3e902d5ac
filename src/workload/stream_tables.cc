#include "workload/stream_tables.h"

#include "workload/saved_walk.h"

namespace sextant::workload {
namespace {

using describe::Framework;

constexpr StreamCost kNothing{.read = 0.0,
                              .written = 0.0,
                              .backward_read = 0.0,
                              .backward_written = 0.0,
                              .kernels = 0.0,
                              .backward_kernels = 0.0};
constexpr StreamCost kAdd{
    .read = 2.0, .written = 1.0, .backward_read = 2.0, .backward_written = 1.0};
constexpr StreamCost kJoin{
    .read = 0.0, .written = 0.0, .backward_read = 2.0, .backward_written = 1.0, .kernels = 0.0};
constexpr StreamCost kOnce{
    .read = 1.0, .written = 1.0, .backward_read = 2.0, .backward_written = 1.0};
constexpr StreamCost kFusedGate{
    .read = 2.0, .written = 1.0, .backward_read = 3.0, .backward_written = 2.0};
// silu, then a product; backward two products and the gradient of silu.
constexpr StreamCost kPlainGate{.read = 3.0,
                                .written = 2.0,
                                .backward_read = 6.0,
                                .backward_written = 3.0,
                                .kernels = 2.0,
                                .backward_kernels = 3.0};
// PyTorch's own norms: the weight's gradient reads both inputs again.
constexpr StreamCost kNativeNorm{.read = 1.0,
                                 .written = 1.0,
                                 .backward_read = 4.0,
                                 .backward_written = 1.0,
                                 .backward_kernels = 2.0};
// A half, a cube, three sums, four products, a tanh.
constexpr StreamCost kSpelledGelu{.read = 10.0,
                                  .written = 8.0,
                                  .backward_read = 17.0,
                                  .backward_written = 11.0,
                                  .kernels = 8.0,
                                  .backward_kernels = 11.0};
constexpr double kLookupIndexed = 7.0;
constexpr double kLookupKernels = 25.0;

// Megatron adds the bias of experts' second product in PyTorch code: for every expert bias times
// probability in fp32, that added to the product; then all joined, and narrowed. Backward widens,
// narrows the product's share, and multiplies and sums twice, for probability and bias; the shares
// are joined again. In elements of 16 bits.
// Source: Megatron-LM d98e8a64, core/transformer/moe/experts.py (TEGroupedMLP._apply_bias).
constexpr StreamCost kEagerExpertBias{.read = 7.0,
                                      .written = 7.0,
                                      .backward_read = 12.0,
                                      .backward_written = 8.0,
                                      .kernels = 2.0,
                                      .backward_kernels = 2.0};

constexpr StreamTable kFusedTable{
    .rms_norm = kOnce,
    .layer_norm = kOnce,
    .rotary = {.read = 1.0, .written = 1.0, .backward_read = 1.0, .backward_written = 1.0},
    .activation = kOnce,
    .spelled_gelu = kOnce,
    .gate = kFusedGate,
    .residual = kAdd,
    .joined = kJoin,
    .input_cast = kNothing,
    .scores = kOnce,
    .head_copies = kNothing,
    .expert_bias = kEagerExpertBias,
    .each_expert = 2.0,
    .each_expert_backward = 5.0};

// The residual is added inside the norm's kernel; rotary computes sines and cosines.
constexpr StreamTable kCompiledTable{.rms_norm = kOnce,
                                     .layer_norm = kOnce,
                                     .rotary = {.read = 1.0,
                                                .written = 1.0,
                                                .backward_read = 1.0,
                                                .backward_written = 1.0,
                                                .indexed = 0.55,
                                                .backward_indexed = 1.1},
                                     .activation = kOnce,
                                     .spelled_gelu = kOnce,
                                     .gate = kFusedGate,
                                     .residual = {.read = 1.0,
                                                  .written = 0.5,
                                                  .backward_read = 1.0,
                                                  .backward_written = 0.0,
                                                  .kernels = 0.0,
                                                  .backward_kernels = 0.0},
                                     .joined = {.read = 0.0,
                                                .written = 0.0,
                                                .backward_read = 1.0,
                                                .backward_written = 0.0,
                                                .kernels = 0.0,
                                                .backward_kernels = 0.0},
                                     .input_cast = kNothing,
                                     .scores = kOnce,
                                     .head_copies = kNothing};

// To fp32 and back around a complex product; norms are PyTorch's own.
constexpr StreamTable kTitanTable{.rms_norm = kNativeNorm,
                                  .layer_norm = kNativeNorm,
                                  .norm_row = kNormRow,
                                  .norm_row_sum = kNormRowSum,
                                  .rotary = {.read = 5.0,
                                             .written = 5.0,
                                             .backward_read = 5.0,
                                             .backward_written = 5.0,
                                             .indexed = 1.3,
                                             .backward_indexed = 1.3,
                                             .kernels = 6.0,
                                             .backward_kernels = 8.0},
                                  .activation = kOnce,
                                  .spelled_gelu = kSpelledGelu,
                                  .gate = kPlainGate,
                                  .residual = kAdd,
                                  .joined = kJoin,
                                  .input_cast = kNothing,
                                  .scores = kOnce,
                                  .head_copies = kNothing,
                                  .lookup_indexed = kLookupIndexed,
                                  .lookup_kernels = kLookupKernels};

// LlamaRMSNorm: to fp32, square, mean, scale, to 16 bits, weight. apply_rotary_pos_emb with
// rotate_half, for queries and keys. eager_attention_forward: scale, mask, to fp32, softmax, back.
constexpr StreamTable kHalfTable{.rms_norm = {.read = 10.0,
                                              .written = 8.0,
                                              .backward_read = 27.0,
                                              .backward_written = 19.0,
                                              .indexed = 2.75,
                                              .backward_indexed = 4.3,
                                              .kernels = 8.0,
                                              .backward_kernels = 17.0},
                                 .layer_norm = kNativeNorm,
                                 .norm_row = kNormRow,
                                 .norm_row_sum = kNormRowSum,
                                 .rotary = {.read = 5.5,
                                            .written = 4.5,
                                            .backward_read = 8.5,
                                            .backward_written = 8.5,
                                            .indexed = 6.1,
                                            .backward_indexed = 7.1,
                                            .kernels = 10.0,
                                            .backward_kernels = 20.0},
                                 .activation = kOnce,
                                 .spelled_gelu = kSpelledGelu,
                                 .gate = kPlainGate,
                                 .residual = kAdd,
                                 .joined = kJoin,
                                 .input_cast = kNothing,
                                 .scores = {.read = 7.0,
                                            .written = 7.0,
                                            .backward_read = 12.0,
                                            .backward_written = 8.0,
                                            .indexed = 2.4,
                                            .backward_indexed = 0.9,
                                            .kernels = 5.0,
                                            .backward_kernels = 5.0},
                                 .head_copies = {.read = 4.0,
                                                 .written = 4.0,
                                                 .backward_read = 2.0,
                                                 .backward_written = 2.0,
                                                 .indexed = 6.7,
                                                 .backward_indexed = 6.0,
                                                 .kernels = 4.0,
                                                 .backward_kernels = 1.0},
                                 .lookup_indexed = kLookupIndexed,
                                 .lookup_kernels = kLookupKernels};

// The same without casts. PyTorch has no kernel for grouped queries in fp32: the scores of its
// plain attention are masked, normalised, searched for empty rows and cleared there.
constexpr StreamTable kFullTable{.rms_norm = {.read = 4.0,
                                              .written = 3.0,
                                              .backward_read = 14.0,
                                              .backward_written = 9.0,
                                              .indexed = 1.6,
                                              .backward_indexed = 3.0,
                                              .kernels = 6.0,
                                              .backward_kernels = 16.0},
                                 .layer_norm = kNativeNorm,
                                 .norm_row = kNormRow,
                                 .norm_row_sum = kNormRowSum,
                                 .rotary = {.read = 5.5,
                                            .written = 4.5,
                                            .backward_read = 8.5,
                                            .backward_written = 8.5,
                                            .indexed = 4.7,
                                            .backward_indexed = 5.4,
                                            .kernels = 10.0,
                                            .backward_kernels = 20.0},
                                 .activation = kOnce,
                                 .spelled_gelu = kSpelledGelu,
                                 .gate = kPlainGate,
                                 .residual = kAdd,
                                 .joined = kJoin,
                                 .input_cast = kNothing,
                                 .scores = {.read = 4.25,
                                            .written = 3.25,
                                            .backward_read = 3.0,
                                            .backward_written = 2.0,
                                            .indexed = 1.9,
                                            .backward_indexed = 0.8,
                                            .kernels = 6.0,
                                            .backward_kernels = 3.0},
                                 .head_copies = {.read = 4.0,
                                                 .written = 4.0,
                                                 .backward_read = 3.0,
                                                 .backward_written = 3.0,
                                                 .indexed = 3.6,
                                                 .backward_indexed = 3.0,
                                                 .kernels = 5.0,
                                                 .backward_kernels = 4.0},
                                 .lookup_indexed = kLookupIndexed,
                                 .lookup_kernels = kLookupKernels};

// Norms, rotary products and the residual stream in fp32; every product casts its own input, and
// the gradient of that input back.
constexpr StreamTable kAutocastTable{
    .rms_norm = {.read = 8.0,
                 .written = 6.0,
                 .backward_read = 30.0,
                 .backward_written = 19.0,
                 .indexed = 1.6,
                 .backward_indexed = 3.0,
                 .kernels = 6.0,
                 .backward_kernels = 17.0},
    .layer_norm = {.read = 2.0,
                   .written = 2.0,
                   .backward_read = 10.0,
                   .backward_written = 3.0,
                   .backward_kernels = 3.0},
    .norm_row = kNormRow,
    .norm_row_sum = kNormRowSum,
    .rotary = {.read = 9.5,
               .written = 8.5,
               .backward_read = 15.5,
               .backward_written = 14.5,
               .indexed = 7.7,
               .backward_indexed = 7.3,
               .kernels = 12.0,
               .backward_kernels = 26.0},
    .activation = {.read = 1.0, .written = 1.0, .backward_read = 2.0, .backward_written = 1.0},
    .spelled_gelu = {.read = 20.0,
                     .written = 18.0,
                     .backward_read = 35.0,
                     .backward_written = 24.0,
                     .indexed = 2.65,
                     .backward_indexed = 1.6,
                     .kernels = 10.0,
                     .backward_kernels = 15.0},
    .gate = kPlainGate,
    .residual = {.read = 3.0,
                 .written = 2.0,
                 .backward_read = 4.0,
                 .backward_written = 2.0,
                 .indexed = 0.9},
    .joined = {.read = 0.0,
               .written = 0.0,
               .backward_read = 4.0,
               .backward_written = 2.0,
               .kernels = 0.0},
    .input_cast = {.read = 2.0,
                   .written = 1.0,
                   .backward_read = 1.0,
                   .backward_written = 2.0,
                   .backward_indexed = 1.0},
    .scores = kHalfTable.scores,
    .head_copies = kHalfTable.head_copies,
    .lookup_indexed = kLookupIndexed,
    .lookup_kernels = kLookupKernels};

}  // namespace

Code code_of(const describe::Job& job, const describe::Layout& layout) {
  switch (job.framework) {
    case Framework::kMegatronCore:
    case Framework::kMegatronDeepspeed:
    case Framework::kNanotron:
    case Framework::kOther:  // trainers of their own mostly bring fused kernels
      return Code::kFused;
    case Framework::kMaxtext:
      return Code::kCompiled;
    case Framework::kTorchtitan:
      return layout.launch == describe::Launch::kCompiled ? Code::kCompiled : Code::kTitan;
    case Framework::kFsdp1:
    case Framework::kDeepspeed:
    case Framework::kAccelerate:
      break;
  }
  if (layout.launch == describe::Launch::kCompiled) {
    return Code::kCompiled;
  }
  const SavedRules rules = saved_rules(job, layout);
  if (rules.autocast) {
    return Code::kAutocast;
  }
  constexpr double kHalfBytes = 2.0;
  return rules.element > kHalfBytes ? Code::kFull : Code::kHalf;
}

const StreamTable& stream_table(Code code) {
  switch (code) {
    case Code::kFused:
      return kFusedTable;
    case Code::kCompiled:
      return kCompiledTable;
    case Code::kTitan:
      return kTitanTable;
    case Code::kHalf:
      return kHalfTable;
    case Code::kFull:
      return kFullTable;
    case Code::kAutocast:
      break;
  }
  return kAutocastTable;
}

}  // namespace sextant::workload
