// One walk over the forward of a block, or of the model's ends, for whoever asks: operators, sums,
// times. The walk knows the order and the sizes after sharding; the sink (operator_calls.h) decides
// what to make of them. docs/models/operators.md has every formula.
//
// Left out: dropout, auxiliary routing losses, unbalanced routing, partial rotary dimensions,
// attention sinks (one logit a head) and learned balance biases.
#pragma once

#include "workload/operator_ffns.h"
#include "workload/operator_mixers.h"
#include "workload/operator_recurrences.h"

namespace sextant::workload {

// y = x + branch: both are read; backward adds the two gradients up.
inline constexpr StreamCost kResidualAdd{
    .read = 2.0, .written = 1.0, .backward_read = 2.0, .backward_written = 1.0};

template <class Sink>
void walk_residual(const Walk<Sink>& at, Part part, double inputs) {
  StreamCost cost = at.options.streams->residual;
  cost.read += inputs - 2.0;
  cost.backward_read += inputs - 2.0;
  at.sink.stream({.part = part,
                  .kind = OpKind::kResidual,
                  .rows = static_cast<double>(at.shard.region_tokens),
                  .width = at.model.hidden,
                  .cost = cost});
}

// Branches rather than std::visit, whose table of functions keeps walks from being inlined.
template <class Sink>
void walk_any_mixer(const Walk<Sink>& at, const describe::Mixer& mixer) {
  if (const auto* attention = std::get_if<describe::Attention>(&mixer)) {
    walk_mixer(at, *attention);
  } else if (const auto* latent = std::get_if<describe::LatentAttention>(&mixer)) {
    walk_mixer(at, *latent);
  } else if (const auto* mamba = std::get_if<describe::Mamba2>(&mixer)) {
    walk_mixer(at, *mamba);
  } else if (const auto* delta = std::get_if<describe::GatedDeltaNet>(&mixer)) {
    walk_mixer(at, *delta);
  }
}

template <class Sink>
void walk_any_ffn(const Walk<Sink>& at, const describe::Ffn& ffn) {
  if (const auto* dense = std::get_if<describe::DenseFfn>(&ffn)) {
    walk_ffn(at, *dense);
  } else if (const auto* moe = std::get_if<describe::MoeFfn>(&ffn)) {
    walk_ffn(at, *moe);
  }
}

// One layer of this block, embedding and head apart. REQUIRES: the job is legal (check_rules).
template <class Sink>
void walk_block(const describe::Model& model, const describe::Block& block, const Shard& shard,
                const WalkOptions& options, Sink& sink) {
  const Walk<Sink> at{model, shard, options, sink};
  const bool mixes = !std::holds_alternative<std::monostate>(block.mixer);
  const bool feeds = !std::holds_alternative<std::monostate>(block.ffn);
  // Norms stand before mixer and feed-forward part; a third and a fourth after them (Gemma).
  const int before = (mixes ? 1 : 0) + (feeds ? 1 : 0);
  const bool joined = block.parallel_residual && before == 2;
  if (mixes) {
    if (block.norms >= 1) {
      walk_norm(at, Part::kInputNorm, shard.region_tokens, model.hidden);
    }
    walk_any_mixer(at, block.mixer);
    if (block.norms > before) {
      walk_norm(at, Part::kMixerResidual, shard.region_tokens, model.hidden);
    }
    if (!joined) {
      walk_residual(at, Part::kMixerResidual, 2.0);
    }
  }
  if (feeds) {
    if (block.norms >= before) {
      walk_norm(at, Part::kFfnNorm, shard.region_tokens, model.hidden);
    }
    walk_any_ffn(at, block.ffn);
    if (block.norms > before + (mixes ? 1 : 0)) {
      walk_norm(at, Part::kFfnResidual, shard.region_tokens, model.hidden);
    }
    walk_residual(at, Part::kFfnResidual, joined ? 3.0 : 2.0);
  }
}

// Rows of the vocabulary's shard for all of the rank's tokens. The gradient is a dense table:
// cleared, scattered into, and under Megatron added to the gradient buffer.
template <class Sink>
void walk_lookup(const Walk<Sink>& at) {
  const Shard& shard = at.shard;
  const double element = static_cast<double>(shard.activation_bytes);
  const double added = at.options.embedding_gradient / element;  // in activations
  at.sink.stream({.part = Part::kEmbedding,
                  .kind = OpKind::kEmbedding,
                  .rows = static_cast<double>(shard.tokens),
                  .width = at.model.hidden,
                  .cost = {.read = 1.0,
                           .written = 1.0,
                           .backward_read = 2.0,
                           .backward_written = 1.0,
                           .backward_indexed = at.options.streams->lookup_indexed,
                           .backward_kernels = at.options.streams->lookup_kernels},
                  .gradient = Pass::kWeightGradient});
  at.sink.stream({.part = Part::kEmbedding,
                  .kind = OpKind::kCopy,
                  .rows = static_cast<double>(divided_up(shard.vocab, shard.tp)),
                  .width = at.model.hidden,
                  .cost = {.read = 0.0,
                           .written = 0.0,
                           .backward_read = added > 0.0 ? 1.0 + added : 0.0,
                           .backward_written = 1.0 + added,
                           .kernels = 0.0},
                  .gradient = Pass::kWeightGradient});
}

// Logits of the vocabulary's shard, and the loss on them: cast to fp32, largest, sum of
// exponentials, softmax kept for the backward pass.
template <class Sink>
void walk_logits(const Walk<Sink>& at) {
  constexpr double kFp32 = 4.0;
  const Shard& shard = at.shard;
  const describe::Model& model = at.model;
  const std::int64_t words = divided_up(shard.vocab, shard.tp);
  const double element = static_cast<double>(shard.activation_bytes);
  const auto tokens = static_cast<double>(shard.tokens);
  at.sink.gemm({.part = Part::kHead,
                .m = shard.tokens,
                .n = words,
                .k = model.hidden,
                .format = ProductFormat::kActivation,
                .bias = model.head_bias,
                .model_share = static_cast<double>(model.vocab) /
                               (static_cast<double>(words) * static_cast<double>(shard.tp))});
  if (at.options.loss_compiled) {
    at.sink.stream({.part = Part::kLoss,
                    .kind = OpKind::kCast,
                    .rows = tokens,
                    .width = words,
                    .cost = kCompiledLoss});
    return;
  }
  at.sink.stream({.part = Part::kLoss,
                  .kind = OpKind::kCast,
                  .rows = tokens,
                  .width = words,
                  .cost = {.read = element,
                           .written = kFp32,
                           .backward_read = kFp32,
                           .backward_written = element},
                  .element_bytes = 1.0});
  at.sink.stream(
      {.part = Part::kLoss,
       .kind = OpKind::kLoss,
       .rows = tokens,
       .width = words,
       .cost = {.read = 3.0, .written = 1.0, .backward_read = 1.0, .backward_written = 1.0},
       .element_bytes = kFp32});
}

// The first stage's own: token and position embeddings.
template <class Sink>
void walk_embedding(const describe::Model& model, const Shard& shard, const WalkOptions& options,
                    Sink& sink) {
  const Walk<Sink> at{model, shard, options, sink};
  walk_lookup(at);
  if (model.learned_positions > 0) {
    sink.stream({.part = Part::kEmbedding,
                 .kind = OpKind::kResidual,
                 .rows = static_cast<double>(shard.tokens),
                 .width = model.hidden,
                 .cost = kResidualAdd,
                 .gradient = Pass::kWeightGradient});
  }
  if (model.embedding_norm) {
    walk_norm(at, Part::kEmbedding, shard.region_tokens, model.hidden);
  }
}

// The last stage's own: final norm, head and loss.
template <class Sink>
void walk_head(const describe::Model& model, const Shard& shard, const WalkOptions& options,
               Sink& sink) {
  const Walk<Sink> at{model, shard, options, sink};
  if (model.final_norm) {
    walk_norm(at, Part::kFinalNorm, shard.region_tokens, model.hidden);
  }
  walk_logits(at);
}

// One depth of multi-token prediction before its block (Model::mtp_block, which the caller walks):
// the next token's embedding beside the hidden state, both normed, projected from 2H to H.
// Source: DeepSeek-V3, arXiv:2412.19437, section 2.2; the projection is column-parallel
// (Megatron-LM d98e8a64, megatron/core/transformer/multi_token_prediction.py).
template <class Sink>
void walk_mtp_entry(const describe::Model& model, const Shard& shard, const WalkOptions& options,
                    Sink& sink) {
  const Walk<Sink> at{model, shard, options, sink};
  walk_lookup(at);
  walk_norm(at, Part::kMtp, 2 * shard.region_tokens, model.hidden);
  sink.stream(
      {.part = Part::kMtp,
       .kind = OpKind::kCopy,
       .rows = static_cast<double>(shard.region_tokens),
       .width = 2 * model.hidden,
       .cost = {.read = 1.0, .written = 1.0, .backward_read = 1.0, .backward_written = 1.0}});
  sink.gemm({.part = Part::kMtp,
             .m = shard.tokens,
             .n = divided_up(model.hidden, shard.tp),
             .k = 2 * model.hidden});
}

// And after it: a norm, the shared head and a loss of its own.
template <class Sink>
void walk_mtp_exit(const describe::Model& model, const Shard& shard, const WalkOptions& options,
                   Sink& sink) {
  const Walk<Sink> at{model, shard, options, sink};
  walk_norm(at, Part::kFinalNorm, shard.region_tokens, model.hidden);
  walk_logits(at);
}

}  // namespace sextant::workload
