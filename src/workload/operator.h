// One operator of a training step on one rank, with its exact shape after sharding.
//
// Shapes by kind:
//   kGemm           batch products of an m×k by a k×n matrix (batch 1: a plain product)
//   kGroupedGemm    `batch` experts, m tokens each (mean, rounded up), n, k as above
//   kAttention      batch sequences, m queries and n keys each, k the head size of queries and
//   keys,
//                   `value_dim` that of values, `heads` and `kv_heads` on this rank, `keys` the
//                   keys that a query really sees on average (half of n under a causal mask, the
//                   window)
//   kScan           batch sequences of m tokens, `heads` heads, n the head size, k the state size
//   everything else m rows of n elements, streamed through memory
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/units.h"
#include "describe/cluster/device.h"
#include "describe/words.h"

namespace sextant::workload {

enum class OpKind : std::uint8_t {
  kGemm,
  kGroupedGemm,
  kAttention,
  kScan,
  kConvolution,
  kNorm,
  kActivation,
  kRotary,
  kResidual,
  kEmbedding,
  kLoss,
  kRoute,    // softmax or sigmoid and top-k over experts
  kPermute,  // tokens into expert order and back
  kCast,
  kQuantise,
  kOptimizer,
  kReduceNorm,  // the gradients' norm
  kCopy,        // gradient accumulation, concatenation, gating by a copy
};
inline constexpr std::array<describe::Word<OpKind>, 18> kOpKindWords{
    {{OpKind::kGemm, "gemm"},
     {OpKind::kGroupedGemm, "grouped_gemm"},
     {OpKind::kAttention, "attention"},
     {OpKind::kScan, "scan"},
     {OpKind::kConvolution, "convolution"},
     {OpKind::kNorm, "norm"},
     {OpKind::kActivation, "activation"},
     {OpKind::kRotary, "rotary"},
     {OpKind::kResidual, "residual"},
     {OpKind::kEmbedding, "embedding"},
     {OpKind::kLoss, "loss"},
     {OpKind::kRoute, "route"},
     {OpKind::kPermute, "permute"},
     {OpKind::kCast, "cast"},
     {OpKind::kQuantise, "quantise"},
     {OpKind::kOptimizer, "optimizer"},
     {OpKind::kReduceNorm, "gradient_norm"},
     {OpKind::kCopy, "copy"}}};

// When it runs. The two gradients are apart: zero-bubble schedules and delayed weight gradients
// move one of them.
enum class Pass : std::uint8_t {
  kForward,
  kInputGradient,
  kWeightGradient,
  kRecompute,
  kUpdate,  // once a step, after the last backward
};
inline constexpr std::array<describe::Word<Pass>, 5> kPassWords{
    {{Pass::kForward, "forward"},
     {Pass::kInputGradient, "input_gradient"},
     {Pass::kWeightGradient, "weight_gradient"},
     {Pass::kRecompute, "recompute"},
     {Pass::kUpdate, "update"}}};

// Which part of the model it belongs to.
enum class Part : std::uint8_t {
  kEmbedding,
  kInputNorm,
  kQkv,
  kQkNorm,
  kRotary,
  kCoreAttention,
  kAttentionGate,
  kAttentionOutput,
  kMlaQueryDown,
  kMlaQueryUp,
  kMlaKvDown,
  kMlaKvUp,
  kIndexer,
  kSsmInput,
  kConvolution,
  kScan,
  kGatedNorm,
  kSsmOutput,
  kMixerResidual,
  kFfnNorm,
  kFc1,
  kFfnActivation,
  kFc2,
  kRouter,
  kDispatch,
  kLatent,  // projections to and from a latent expert width
  kExpertFc1,
  kExpertActivation,
  kExpertFc2,
  kCombine,
  kSharedFc1,
  kSharedActivation,
  kSharedFc2,
  kFfnResidual,
  kMtp,
  kFinalNorm,
  kHead,
  kLoss,
  kLora,
  kOptimizer,
};
inline constexpr std::array<describe::Word<Part>, 40> kPartWords{
    {{Part::kEmbedding, "embedding"},
     {Part::kInputNorm, "input_norm"},
     {Part::kQkv, "qkv"},
     {Part::kQkNorm, "qk_norm"},
     {Part::kRotary, "rotary"},
     {Part::kCoreAttention, "core_attention"},
     {Part::kAttentionGate, "attention_gate"},
     {Part::kAttentionOutput, "attention_output"},
     {Part::kMlaQueryDown, "mla_q_down"},
     {Part::kMlaQueryUp, "mla_q_up"},
     {Part::kMlaKvDown, "mla_kv_down"},
     {Part::kMlaKvUp, "mla_kv_up"},
     {Part::kIndexer, "indexer"},
     {Part::kSsmInput, "ssm_input"},
     {Part::kConvolution, "convolution"},
     {Part::kScan, "scan"},
     {Part::kGatedNorm, "gated_norm"},
     {Part::kSsmOutput, "ssm_output"},
     {Part::kMixerResidual, "mixer_residual"},
     {Part::kFfnNorm, "ffn_norm"},
     {Part::kFc1, "fc1"},
     {Part::kFfnActivation, "ffn_activation"},
     {Part::kFc2, "fc2"},
     {Part::kRouter, "router"},
     {Part::kDispatch, "dispatch"},
     {Part::kLatent, "latent"},
     {Part::kExpertFc1, "expert_fc1"},
     {Part::kExpertActivation, "expert_activation"},
     {Part::kExpertFc2, "expert_fc2"},
     {Part::kCombine, "combine"},
     {Part::kSharedFc1, "shared_fc1"},
     {Part::kSharedActivation, "shared_activation"},
     {Part::kSharedFc2, "shared_fc2"},
     {Part::kFfnResidual, "ffn_residual"},
     {Part::kMtp, "mtp"},
     {Part::kFinalNorm, "final_norm"},
     {Part::kHead, "head"},
     {Part::kLoss, "loss"},
     {Part::kLora, "lora"},
     {Part::kOptimizer, "optimizer"}}};

// How often queries meet keys in a ring of so many rounds: all of them on the diagonal, then, as
// the sequence is dealt in two halves to balance the causal triangle, all of them in half of the
// rounds and half of them in the others. Source: TransformerEngine 2.x, context_parallel.py.
constexpr double ring_sweeps(double rounds) {
  return 1.0 + 0.75 * (rounds - 1.0);
}

struct Operator {
  OpKind kind = OpKind::kGemm;
  Pass pass = Pass::kForward;
  Part part = Part::kQkv;
  describe::DType dtype = describe::DType::kBf16;  // of the arithmetic
  std::int64_t count = 1;                          // identical operators (layers alike)
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t value_dim = 0;
  double keys = 0.0;
  bool masked = false;   // attention by a mask in memory: the whole square is computed
  double kernels = 1.0;  // that it takes: line by line, a norm is eight
  double indexed = 0.0;  // elements found by index arithmetic, or widened, beside the bytes
  Flops flops{};         // what the hardware does, once
  Flops model_flops{};   // what the model asks for: no recomputation, causal attention halved
  Bytes read{};          // from memory, once
  Bytes written{};
};

}  // namespace sextant::workload
