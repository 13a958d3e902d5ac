// Which tensors the forward pass of a block keeps for its backward pass, and how large they are on
// one rank.
//
// One walk for every use: `sink(part, name, bytes, dropped)` is called for each tensor, where
// `dropped` are the parts whose recomputation makes keeping it unnecessary. Tensors shared by
// several operators are announced once. Sizes are for one microbatch.
//
// What is kept depends on how the operators are written, so there are dialects:
//   kMegatron   Transformer Engine modules: fused norm+linear keeps the norm's input and output,
//               SwiGLU keeps its input, flash attention keeps q, k, v, its output and a row of
//               fp32. Source: TransformerEngine 2.11 module/layernorm_linear.py, linear.py;
//               Megatron-LM d98e8a64 fusions/fused_bias_swiglu.py, transformer/moe/*.
//   kLegacy     Megatron-LM before Transformer Engine, with dropout: Korthikanti et al. 2022,
//               arXiv:2205.05198, eq. 1.
//   kEager      Hugging Face modelling code as PyTorch runs it op by op: norms computed in fp32
//   keep
//               the fp32 copy, SwiGLU keeps all four of its tensors.
//   kTitan      plain PyTorch with fused norms (torchtitan, FSDP trainers).
//   kCompiled   a compiler that recomputes element-wise work (torch.compile, XLA): inputs of
//               products and of attention.
#pragma once

#include <cstdint>
#include <string_view>

#include "describe/layout/job.h"
#include "workload/recompute.h"
#include "workload/shard.h"
#include "workload/weights.h"

namespace sextant::workload {

enum class Dialect : std::uint8_t { kMegatron, kLegacy, kEager, kTitan, kCompiled };

// How tensors are kept, apart from their shapes.
struct SavedRules {
  Dialect dialect = Dialect::kMegatron;
  double element = 2.0;         // bytes of an activation
  double linear_input = 2.0;    // bytes at which a product keeps its input (fp8: 1)
  bool autocast = false;        // fp32 parameters and residual, products in half precision
  bool flash = true;            // attention keeps no score matrix
  double gathered = 1.0;        // ranks whose tokens a product's kept input holds (DTensor with sp)
  bool dropout = false;         // masks of a byte an element
  bool composite_gelu = false;  // the tanh form of GELU written out: three tensors more
};

SavedRules saved_rules(const describe::Job& job, const describe::Layout& layout);

namespace saved {

// Bytes of fp32 statistics that a norm keeps a token: the reciprocal deviation, and the mean.
inline double norm_statistics(const describe::Model& model) {
  return model.norm.subtracts_mean ? 8.0 : 4.0;
}

// A norm over `tokens` rows of `width` whose output goes into a product. `copies`: products that
// each keep their own half-precision copy under autocast.
struct NormShape {
  Part part = Part::kInputNorm;
  double tokens = 0.0;
  double width = 0.0;
  double copies = 1.0;
};

template <class Sink>
void norm(const describe::Model& model, const SavedRules& rules, const NormShape& shape,
          Sink& sink) {
  const Part part = shape.part;
  const double elements = shape.tokens * shape.width;
  switch (rules.dialect) {
    case Dialect::kEager:
      if (model.norm.subtracts_mean) {
        sink(part, "norm input", elements * (rules.autocast ? 4.0 : rules.element), 0);
      } else {
        sink(part, "norm input in fp32", elements * 4.0, 0);
        sink(part, "normalised input", elements * (rules.autocast ? 4.0 : rules.element),
             mask_of(part));
      }
      sink(part, "norm output", elements * rules.element * (rules.autocast ? shape.copies : 1.0),
           mask_of(part));
      break;
    case Dialect::kMegatron:
    case Dialect::kLegacy:
      sink(part, "norm input", elements * rules.element, 0);
      sink(part, "norm output", elements * rules.linear_input, mask_of(part));
      break;
    case Dialect::kTitan:
    case Dialect::kCompiled:
      // DTensor's products keep the gathered input; Megatron gathers it again.
      sink(part, "norm input", elements * rules.element, 0);
      sink(part, "norm output", elements * rules.linear_input * rules.gathered, mask_of(part));
      break;
  }
  sink(part, "norm statistics", shape.tokens * norm_statistics(model), 0);
}

template <class Sink>
void mixer(const describe::Model& /*model*/, const std::monostate& /*none*/, const Shard& /*shard*/,
           const SavedRules& /*rules*/, Sink& /*sink*/) {}

// The attention core: `q`, `k`, `v`, `out` are elements a token on this rank.
struct CoreShape {
  double tokens = 0.0;
  double keys = 0.0;  // length of the score matrix's rows
  double heads = 0.0;
  double q = 0.0;
  double k = 0.0;
  double v = 0.0;
  double out = 0.0;
  PartMask projections = 0;  // whose recomputation drops q, k and v
};

template <class Sink>
void core(const CoreShape& shape, const Shard& shard, const SavedRules& rules, Sink& sink) {
  const double a = rules.element;
  const PartMask self = mask_of(Part::kCoreAttention);
  sink(Part::kCoreAttention, "queries", shape.tokens * shape.q * a, shape.projections);
  sink(Part::kCoreAttention, "keys", shape.tokens * shape.k * a, shape.projections);
  sink(Part::kCoreAttention, "values", shape.tokens * shape.v * a, shape.projections);
  if (rules.flash) {
    sink(Part::kCoreAttention, "log-sum-exp in fp32", shape.tokens * shape.heads * 4.0, self);
    // The ring keeps its accumulated output beside the one it hands on.
    if (shard.cp > 1) {
      sink(Part::kCoreAttention, "ring output", shape.tokens * shape.out * a, self);
    }
  } else {
    const double scores = shape.tokens * shape.keys * shape.heads;
    sink(Part::kCoreAttention, "softmax output", scores * a, self);
    if (rules.dialect == Dialect::kEager) {
      // Softmax in fp32, cast back, both kept; GPT-2's code stays in half precision and keeps two.
      const double first = rules.composite_gelu && !rules.autocast ? a : 4.0;
      sink(Part::kCoreAttention, "softmax output before the cast", scores * (a < 4.0 ? first : 0.0),
           self);
    }
    if (rules.dropout) {
      sink(Part::kCoreAttention, "attention dropout", scores * (1.0 + a), self);
    }
  }
  sink(Part::kAttentionOutput, "attention output", shape.tokens * shape.out * a, 0);
  if (rules.linear_input < a) {
    sink(Part::kAttentionOutput, "attention output, quantised",
         shape.tokens * shape.out * rules.linear_input, 0);
  }
}

template <class Sink>
void mixer(const describe::Model& /*model*/, const describe::Attention& attention,
           const Shard& shard, const SavedRules& rules, Sink& sink) {
  const auto tokens = static_cast<double>(shard.tokens);
  const auto heads = static_cast<double>(divided_up(attention.heads, shard.tp));
  const auto dim = static_cast<double>(attention.head_dim);
  const double q = heads * dim;
  double kv = static_cast<double>(local_kv_heads(attention.kv_heads, shard.tp)) * dim;
  const double a = rules.element;
  if (attention.qk_norm != describe::QkNorm::kNone) {
    const double width = q + kv;
    const bool upcast = rules.dialect == Dialect::kEager;
    sink(Part::kQkNorm, "inputs of query and key norms", tokens * width * (upcast ? 4.0 : a), 0);
    sink(Part::kQkNorm, "normalised queries and keys", upcast ? tokens * width * a : 0.0, 0);
    sink(Part::kQkNorm, "norm statistics", tokens * width / dim * 4.0, 0);
  }
  if (attention.output_gate) {
    sink(Part::kAttentionGate, "gate and its sigmoid", tokens * q * a * 2.0, 0);
    sink(Part::kAttentionGate, "gated output", tokens * q * a, 0);
  }
  const bool repeats = (rules.dialect == Dialect::kEager && !rules.flash) ||
                       rules.dialect == Dialect::kTitan || rules.dialect == Dialect::kCompiled;
  if (repeats) {
    kv = q;  // keys and values are repeated to all heads before the kernel
  }
  core({.tokens = tokens,
        .keys = static_cast<double>(shard.sequence),
        .heads = heads,
        .q = q,
        .k = kv,
        .v = kv,
        .out = q,
        .projections = 0},
       shard, rules, sink);
}

template <class Sink>
void mixer(const describe::Model& /*model*/, const describe::LatentAttention& latent,
           const Shard& shard, const SavedRules& rules, Sink& sink) {
  const auto tokens = static_cast<double>(shard.tokens);
  const auto region = static_cast<double>(shard.region_tokens);
  const auto heads = static_cast<double>(divided_up(latent.heads, shard.tp));
  const auto nope = static_cast<double>(latent.qk_nope_head_dim);
  const auto rope = static_cast<double>(latent.qk_rope_head_dim);
  const auto value = static_cast<double>(latent.v_head_dim);
  const auto q_rank = static_cast<double>(latent.q_lora_rank);
  const auto kv_rank = static_cast<double>(latent.kv_lora_rank);
  const double a = rules.element;
  sink(Part::kMlaQueryDown, "compressed queries", region * q_rank * a, 0);
  sink(Part::kMlaQueryUp, "normalised compressed queries", region * q_rank * rules.linear_input, 0);
  sink(Part::kMlaKvDown, "compressed keys and values", region * (kv_rank + rope) * a, 0);
  sink(Part::kMlaKvUp, "normalised compressed keys and values",
       region * kv_rank * rules.linear_input, 0);
  // Values are a view of the up-projection, which stays whole: nope + value elements a head.
  core({.tokens = tokens,
        .keys = static_cast<double>(shard.sequence),
        .heads = heads,
        .q = heads * (nope + rope),
        .k = heads * (nope + rope),
        .v = heads * (nope + value),
        .out = heads * value,
        .projections = mask_of(Part::kMlaQueryUp) | mask_of(Part::kMlaKvUp)},
       shard, rules, sink);
}

// Left out: what a scan keeps beside its inputs (states at chunk borders are recomputed).
template <class Sink>
void mixer(const describe::Model& /*model*/, const describe::Mamba2& mamba, const Shard& shard,
           const SavedRules& rules, Sink& sink) {
  const auto tokens = static_cast<double>(shard.tokens);
  const auto heads = static_cast<double>(divided_up(mamba.heads, shard.tp));
  const double inner = heads * static_cast<double>(mamba.head_dim);
  const double states = 2.0 * static_cast<double>(divided_up(mamba.groups, shard.tp) * mamba.state);
  const double a = rules.element;
  sink(Part::kSsmInput, "input projection", tokens * (2.0 * inner + states + heads) * a, 0);
  sink(Part::kConvolution, "convolution output", tokens * (inner + states) * a, 0);
  sink(Part::kScan, "scan output", tokens * inner * a, 0);
  sink(Part::kGatedNorm, "gated output", tokens * inner * rules.linear_input, 0);
}

template <class Sink>
void mixer(const describe::Model& /*model*/, const describe::GatedDeltaNet& delta,
           const Shard& shard, const SavedRules& rules, Sink& sink) {
  const auto tokens = static_cast<double>(shard.tokens);
  const auto keys = static_cast<double>(divided_up(delta.key_heads, shard.tp) * delta.key_head_dim);
  const auto value_heads = static_cast<double>(divided_up(delta.value_heads, shard.tp));
  const double values = value_heads * static_cast<double>(delta.value_head_dim);
  const double a = rules.element;
  sink(Part::kSsmInput, "input projections",
       tokens * (2.0 * keys + 2.0 * values + 2.0 * value_heads) * a, 0);
  sink(Part::kConvolution, "convolution output", tokens * (2.0 * keys + values) * a, 0);
  sink(Part::kScan, "scan output", tokens * values * a, 0);
  sink(Part::kGatedNorm, "gated output", tokens * values * rules.linear_input, 0);
}

// The parts of a feed-forward unit, dense, shared or routed.
struct UnitParts {
  Part fc1 = Part::kFc1;
  Part activation = Part::kFfnActivation;
};

// `tokens` rows through a unit of `width` (on this rank).
template <class Sink>
void unit(const UnitParts& parts, double tokens, double width, bool gated, const SavedRules& rules,
          Sink& sink) {
  const double a = rules.element;
  const PartMask fc1 = mask_of(parts.fc1);
  const PartMask activation = mask_of(parts.activation);
  sink(parts.fc1, "first product's output", tokens * width * a * (gated ? 2.0 : 1.0), fc1);
  if (rules.dialect == Dialect::kEager) {
    sink(parts.activation, "activation of the gate", gated ? tokens * width * a : 0.0,
         activation | fc1);
    sink(parts.activation, "terms of the tanh form of GELU",
         rules.composite_gelu ? 3.0 * tokens * width * (rules.autocast ? 4.0 : a) : 0.0,
         activation | fc1);
  }
  if (rules.dialect == Dialect::kTitan && gated) {
    sink(parts.activation, "activation of the gate", tokens * width * a, activation | fc1);
  }
  sink(parts.activation, "second product's input", tokens * width * rules.linear_input,
       activation | fc1);
}

template <class Sink>
void ffn(const describe::Model& /*model*/, const std::monostate& /*none*/, const Shard& /*shard*/,
         const SavedRules& /*rules*/, Sink& /*sink*/) {}

template <class Sink>
void ffn(const describe::Model& /*model*/, const describe::DenseFfn& dense, const Shard& shard,
         const SavedRules& rules, Sink& sink) {
  unit({.fc1 = Part::kFc1, .activation = Part::kFfnActivation}, static_cast<double>(shard.tokens),
       static_cast<double>(divided_up(dense.width, shard.tp)), dense.gated, rules, sink);
}

// Token copies that the experts of one rank receive, routing balanced: top-k of the tokens of its
// tensor-parallel region, gathered over the expert's own tensor-parallel ranks.
inline double expert_tokens(const describe::MoeFfn& moe, const Shard& shard) {
  const double own = static_cast<double>(shard.tokens) / static_cast<double>(shard.tp);
  return own * static_cast<double>(moe.topk) * static_cast<double>(shard.etp);
}

template <class Sink>
void ffn(const describe::Model& model, const describe::MoeFfn& moe, const Shard& shard,
         const SavedRules& rules, Sink& sink) {
  const auto region = static_cast<double>(shard.region_tokens);
  const auto experts = static_cast<double>(moe.experts);
  const double input = static_cast<double>(moe.latent_width > 0 ? moe.latent_width : model.hidden);
  const double copies = expert_tokens(moe, shard);
  const PartMask router = mask_of(Part::kRouter);
  const PartMask dispatch = mask_of(Part::kDispatch);
  // Logits and probabilities in fp32, their gradient mask: a byte an expert.
  sink(Part::kRouter, "router logits, probabilities and map", region * experts * (4.0 + 4.0 + 1.0),
       router);
  sink(Part::kLatent, "latent input", moe.latent_width > 0 ? region * input * rules.element : 0.0,
       mask_of(Part::kLatent));
  sink(Part::kDispatch, "tokens in expert order", copies * input * rules.linear_input, dispatch);
  unit({.fc1 = Part::kExpertFc1, .activation = Part::kExpertActivation}, copies,
       static_cast<double>(divided_up(moe.width, shard.etp)), moe.gated, rules, sink);
  if (moe.shared_width > 0) {
    unit({.fc1 = Part::kSharedFc1, .activation = Part::kSharedActivation},
         static_cast<double>(shard.tokens),
         static_cast<double>(divided_up(moe.shared_width, shard.tp)), moe.gated, rules, sink);
  }
}

}  // namespace saved

// What torchtitan's operator policy keeps of a layer of attention and a dense feed-forward part:
// its input, wq, wv, w1 and w2, the attention output and its row of fp32. Other blocks: as if
// nothing but norms and activations were computed again.
bool keeps_every_second_product(const describe::RecomputePolicy& policy);
double every_second_product_bytes(const describe::Model& model, const describe::Block& block,
                                  const Shard& shard, const SavedRules& rules);

// Everything a block keeps for one microbatch on one rank.
template <class Sink>
void walk_saved(const describe::Model& model, const describe::Block& block, const Shard& shard,
                const SavedRules& rules, Sink& sink) {
  const auto region = static_cast<double>(shard.region_tokens);
  const auto hidden = static_cast<double>(model.hidden);
  const bool mixes = !std::holds_alternative<std::monostate>(block.mixer);
  const bool feeds = !std::holds_alternative<std::monostate>(block.ffn);
  constexpr double kQkvProducts = 3.0;
  constexpr double kGatedProducts = 2.0;
  if (mixes) {
    saved::norm(model, rules, {Part::kInputNorm, region, hidden, kQkvProducts}, sink);
    std::visit([&](const auto& mixer) { saved::mixer(model, mixer, shard, rules, sink); },
               block.mixer);
    sink(Part::kMixerResidual, "dropout mask", rules.dropout ? region * hidden : 0.0, 0);
  }
  const bool shares_norm = mixes && block.parallel_residual && block.norms < 2;
  if (feeds && !shares_norm) {
    saved::norm(model, rules, {Part::kFfnNorm, region, hidden, kGatedProducts}, sink);
  }
  if (feeds) {
    std::visit([&](const auto& ffn) { saved::ffn(model, ffn, shard, rules, sink); }, block.ffn);
    sink(Part::kFfnResidual, "dropout mask", rules.dropout ? region * hidden : 0.0, 0);
  }
  constexpr int kNormsWithPost = 4;
  if (block.norms >= kNormsWithPost) {
    sink(Part::kMixerResidual, "inputs of the norms after mixer and feed-forward",
         2.0 * region * hidden * rules.element, 0);
  }
}

// Bytes of all of them, less what recomputing `recomputed` makes unnecessary.
double saved_bytes(const describe::Model& model, const describe::Block& block, const Shard& shard,
                   const SavedRules& rules, PartMask recomputed);

// The block's own input: all that a whole-layer recomputation keeps.
double checkpoint_bytes(const describe::Model& model, const Shard& shard, const SavedRules& rules);

}  // namespace sextant::workload
