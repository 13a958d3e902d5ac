// The forward of attention of every kind on one rank, announced to a sink (operator_calls.h).
//
// Tensor parallelism deals heads; what it leaves whole (MLA's down projections, the indexer) every
// rank computes, on its own tokens where sequence parallelism has split them. Context parallelism
// splits queries: all keys are seen in turn (ring, all-gather), or heads are dealt for the length
// of the attention (all-to-all); either way each rank computes 1/cp of the pairs.
#pragma once

#include <algorithm>
#include <numeric>
#include <variant>

#include "describe/model/model.h"
#include "workload/operator_options.h"
#include "workload/shard.h"
#include "workload/weights.h"

namespace sextant::workload {

// What every function of a walk reads, and whom it tells.
template <class Sink>
struct Walk {
  const describe::Model& model;
  const Shard& shard;
  const WalkOptions& options;
  Sink& sink;
};

// The share of a product that counts where tensor-parallel ranks repeat it: all of it on tokens of
// their own (sp), 1/tp where each has all the tokens.
inline double own_share(const Shard& shard) {
  return shard.sp ? 1.0 : 1.0 / static_cast<double>(shard.tp);
}

// The share of `held` columns on each tensor-parallel rank when the model has `asked` in all.
inline double column_share(const Shard& shard, std::int64_t asked, std::int64_t held) {
  return static_cast<double>(asked) / (static_cast<double>(held) * static_cast<double>(shard.tp));
}

// A norm over `width` of each of `rows` tokens.
template <class Sink>
void walk_norm(const Walk<Sink>& at, Part part, std::int64_t rows, std::int64_t width) {
  const StreamTable& streams = *at.options.streams;
  // LayerNorm is one kernel in PyTorch, and so is torchtitan's nn.RMSNorm.
  const bool native = at.model.norm.subtracts_mean || streams.rms_norm.kernels <= 1.0;
  Stream norm{.part = part,
              .kind = OpKind::kNorm,
              .rows = static_cast<double>(rows),
              .width = width,
              .cost = at.model.norm.subtracts_mean ? streams.layer_norm : streams.rms_norm};
  if (native) {
    const auto columns = static_cast<double>(std::max<std::int64_t>(width, 1));
    norm.cost.indexed += streams.norm_row / columns;
    norm.cost.backward_indexed += streams.norm_row_sum / columns;
  }
  at.sink.stream(norm);
}

// y = x · gate: two inputs, one output; gradients of both.
inline constexpr StreamCost kGating{
    .read = 2.0, .written = 1.0, .backward_read = 3.0, .backward_written = 2.0};

constexpr StreamCost times(const StreamCost& cost, std::int64_t count) {
  const auto n = static_cast<double>(count);
  return {.read = cost.read * n,
          .written = cost.written * n,
          .backward_read = cost.backward_read * n,
          .backward_written = cost.backward_written * n,
          .indexed = cost.indexed * n,
          .backward_indexed = cost.backward_indexed * n,
          .kernels = cost.kernels * n,
          .backward_kernels = cost.backward_kernels * n};
}

// Products that share one input, apart: under autocast each casts it for itself, and autograd adds
// their input gradients up.
template <class Sink>
void walk_shared_input(const Walk<Sink>& at, Part part, std::int64_t products) {
  const StreamTable& streams = *at.options.streams;
  Stream stream{.part = part,
                .kind = OpKind::kResidual,
                .rows = static_cast<double>(at.shard.tokens),
                .width = at.model.hidden,
                .cost = {}};
  if (products > 1) {
    stream.cost = times(streams.joined, products - 1);
    at.sink.stream(stream);
  }
  if (streams.input_cast.kernels > 0.0) {
    stream.kind = OpKind::kCast;
    stream.cost = times(streams.input_cast, products);
    at.sink.stream(stream);
  }
}

template <class Sink>
void walk_adapter(const Walk<Sink>& at, describe::LoraModule module, const Gemm& host) {
  if (at.options.adapts(module)) {
    at.sink.lora({.host = host.part,
                  .m = host.m,
                  .in = host.k,
                  .out = host.n,
                  .rank = at.options.lora_rank});
  }
}

// Keys that a query sees on average when none sees more than `most` (0: no limit). A sequence of L
// tokens gives the i-th min(i, most) keys: most − most²/2L.
inline double seen_keys(const Shard& shard, std::int64_t most) {
  const double length = 2.0 * shard.causal_keys;
  const auto bound = static_cast<double>(most);
  return most > 0 && bound < length ? bound - bound * bound / (2.0 * length) : shard.causal_keys;
}

// The same as model FLOPs are counted: the bound itself, where it is below half the sequence.
inline double counted_keys(const Shard& shard, std::int64_t most) {
  return most > 0 ? std::min(shard.causal_keys, static_cast<double>(most)) : shard.causal_keys;
}

// Context ranks that heads are dealt over while attention runs.
inline std::int64_t head_exchange(const Shard& shard, const WalkOptions& options,
                                  std::int64_t heads) {
  switch (options.cp_method) {
    case describe::CpMethod::kP2pRing:
    case describe::CpMethod::kAllGather:
      return 1;
    case describe::CpMethod::kAllToAll:
      return shard.cp;
    case describe::CpMethod::kAllToAllP2p:
      return options.cp_inner > 0 ? options.cp_inner : std::gcd(shard.cp, heads);
  }
  return 1;
}

// Ranks whose keys and values come round one after another while attention runs.
inline std::int64_t ring_rounds(const Shard& shard, const WalkOptions& options,
                                std::int64_t exchange) {
  const bool ring = options.cp_method == describe::CpMethod::kP2pRing ||
                    options.cp_method == describe::CpMethod::kAllToAllP2p;
  return ring ? divided_up(shard.cp, exchange) : std::int64_t{1};
}

struct AttentionHeads {
  std::int64_t heads = 0;  // on a tensor-parallel rank
  std::int64_t kv_heads = 0;
  std::int64_t k = 0;
  std::int64_t value_dim = 0;
  std::int64_t most_keys = 0;  // window or top-k; 0: none
};

// Keys and values repeated for every head that reads them, or all three made contiguous.
template <class Sink>
void walk_head_copies(const Walk<Sink>& at, const AttentionHeads& a) {
  Stream copies{.part = Part::kCoreAttention,
                .kind = OpKind::kCopy,
                .rows = static_cast<double>(at.shard.tokens),
                .width = a.heads * a.k,
                .cost = {}};
  if (at.options.repeats_kv && a.kv_heads < a.heads) {
    const double held = 2.0 * static_cast<double>(a.kv_heads) / static_cast<double>(a.heads);
    copies.cost = repeated_heads(held);
    at.sink.stream(copies);
  }
  if (at.options.attention == describe::AttentionKernel::kEager) {
    copies.cost = at.options.streams->head_copies;
    at.sink.stream(copies);
  }
}

template <class Sink>
void walk_attention_core(const Walk<Sink>& at, const AttentionHeads& a) {
  const Shard& shard = at.shard;
  const std::int64_t exchange =
      shard.cp > 1 ? head_exchange(shard, at.options, a.heads) : std::int64_t{1};
  const bool dealt = exchange > 1;
  walk_head_copies(at, a);
  at.sink.attention({.part = Part::kCoreAttention,
                     .batch = shard.mbs,
                     .m = shard.local_sequence * exchange,
                     .n = shard.sequence,
                     .heads = dealt ? divided_up(a.heads, exchange) : a.heads,
                     .kv_heads = dealt ? local_kv_heads(a.kv_heads, exchange) : a.kv_heads,
                     .k = a.k,
                     .value_dim = a.value_dim,
                     .keys = at.options.masked_attention ? static_cast<double>(shard.sequence)
                                                         : seen_keys(shard, a.most_keys),
                     .model_keys = counted_keys(shard, a.most_keys),
                     .kernel = at.options.attention,
                     .masked = at.options.masked_attention,
                     .rounds = ring_rounds(shard, at.options, exchange)});
}

template <class Sink>
void walk_qkv(const Walk<Sink>& at, const describe::Attention& a, std::int64_t queries,
              std::int64_t keys) {
  const std::int64_t projected = a.output_gate ? 2 * queries : queries;
  Gemm gemm{.part = Part::kQkv,
            .m = at.shard.tokens,
            .n = projected + 2 * keys,
            .k = at.model.hidden,
            .bias = a.qkv_bias};
  walk_adapter(at, describe::LoraModule::kQkv, gemm);
  const std::int64_t all_keys = a.kv_heads * a.head_dim;
  if (at.options.fused_projections) {
    gemm.model_share = column_share(at.shard, projected * at.shard.tp + 2 * all_keys, gemm.n);
    at.sink.gemm(gemm);
    walk_shared_input(at, Part::kQkv, 1);
    return;
  }
  gemm.n = projected;
  at.sink.gemm(gemm);
  gemm.n = keys;
  gemm.model_share = column_share(at.shard, all_keys, keys);
  at.sink.gemm(gemm);
  at.sink.gemm(gemm);
  walk_shared_input(at, Part::kQkv, 3);
}

template <class Sink>
void walk_mixer(const Walk<Sink>& at, const describe::Attention& a) {
  const Shard& shard = at.shard;
  const std::int64_t heads = divided_up(a.heads, shard.tp);
  const std::int64_t kv_heads = local_kv_heads(a.kv_heads, shard.tp);
  const std::int64_t queries = heads * a.head_dim;
  const std::int64_t keys = kv_heads * a.head_dim;
  const auto tokens = static_cast<double>(shard.tokens);
  walk_qkv(at, a, queries, keys);
  if (a.qk_norm != describe::QkNorm::kNone) {
    walk_norm(at, Part::kQkNorm, shard.tokens, queries + keys);
  }
  if (a.rotary) {
    at.sink.stream({.part = Part::kRotary,
                    .kind = OpKind::kRotary,
                    .rows = tokens,
                    .width = queries + keys,
                    .cost = at.options.streams->rotary});
  }
  walk_attention_core(at, {.heads = heads,
                           .kv_heads = kv_heads,
                           .k = a.head_dim,
                           .value_dim = a.head_dim,
                           .most_keys = a.window});
  if (a.output_gate) {
    at.sink.stream({.part = Part::kAttentionGate,
                    .kind = OpKind::kActivation,
                    .rows = tokens,
                    .width = queries,
                    .cost = kGating});
  }
  const Gemm output{.part = Part::kAttentionOutput,
                    .m = shard.tokens,
                    .n = at.model.hidden,
                    .k = queries,
                    .bias = a.output_bias};
  at.sink.gemm(output);
  walk_adapter(at, describe::LoraModule::kAttentionOutput, output);
}

// Source: DeepSeek-V3.2, arXiv:2512.02556, section 2: queries from the query latent, one shared
// key, a weight per head; its input is detached from the main loss. Every tensor-parallel rank
// scores all of its tokens.
template <class Sink>
void walk_indexer(const Walk<Sink>& at, const describe::LatentAttention& a) {
  const Shard& shard = at.shard;
  const describe::SparseIndexer& indexer = a.indexer;
  const double share = 1.0 / static_cast<double>(shard.tp);
  Gemm gemm{.part = Part::kIndexer,
            .m = shard.tokens,
            .n = indexer.heads * indexer.head_dim,
            .k = a.q_lora_rank > 0 ? a.q_lora_rank : at.model.hidden,
            .format = ProductFormat::kActivation,
            .input_gradient = false,
            .model_share = share};
  at.sink.gemm(gemm);
  gemm.k = at.model.hidden;
  gemm.n = indexer.head_dim;
  at.sink.gemm(gemm);
  gemm.n = indexer.heads;
  at.sink.gemm(gemm);
  at.sink.attention({.part = Part::kIndexer,
                     .batch = shard.mbs,
                     .m = shard.local_sequence,
                     .n = shard.sequence,
                     .heads = indexer.heads,
                     .kv_heads = 1,
                     .k = indexer.head_dim,
                     .value_dim = 0,
                     .keys = shard.causal_keys,
                     .model_keys = shard.causal_keys * share});
  // The choice of the top keys reads every score once, in fp32.
  at.sink.stream(
      {.part = Part::kIndexer,
       .kind = OpKind::kRoute,
       .rows = static_cast<double>(shard.tokens) * shard.causal_keys,
       .width = 1,
       .cost = {.read = 1.0, .written = 1.0, .backward_read = 1.0, .backward_written = 1.0},
       .element_bytes = 4.0});
}

// Queries down and up again (or straight), keys and values down to one latent with a shared rotary
// key. Down projections are not split by tensor parallelism: they run on the rank's own tokens.
// Source: Megatron-LM d98e8a64, megatron/core/transformer/multi_latent_attention.py
// (linear_q_down_proj and linear_kv_down_proj are "duplicated").
template <class Sink>
void walk_latent_projections(const Walk<Sink>& at, const describe::LatentAttention& a,
                             std::int64_t heads) {
  const Shard& shard = at.shard;
  const std::int64_t h = at.model.hidden;
  const std::int64_t head_dim = a.qk_nope_head_dim + a.qk_rope_head_dim;
  if (a.q_lora_rank > 0) {
    at.sink.gemm({.part = Part::kMlaQueryDown,
                  .m = shard.region_tokens,
                  .n = a.q_lora_rank,
                  .k = h,
                  .model_share = own_share(shard)});
    walk_norm(at, Part::kMlaQueryUp, shard.region_tokens, a.q_lora_rank);
  }
  at.sink.gemm({.part = Part::kMlaQueryUp,
                .m = shard.tokens,
                .n = heads * head_dim,
                .k = a.q_lora_rank > 0 ? a.q_lora_rank : h});
  at.sink.gemm({.part = Part::kMlaKvDown,
                .m = shard.region_tokens,
                .n = a.kv_lora_rank + a.qk_rope_head_dim,
                .k = h,
                .model_share = own_share(shard)});
  walk_norm(at, Part::kMlaKvUp, shard.region_tokens, a.kv_lora_rank);
  at.sink.gemm({.part = Part::kMlaKvUp,
                .m = shard.tokens,
                .n = heads * (a.qk_nope_head_dim + a.v_head_dim),
                .k = a.kv_lora_rank});
}

template <class Sink>
void walk_mixer(const Walk<Sink>& at, const describe::LatentAttention& a) {
  const Shard& shard = at.shard;
  const std::int64_t heads = divided_up(a.heads, shard.tp);
  const std::int64_t head_dim = a.qk_nope_head_dim + a.qk_rope_head_dim;
  walk_latent_projections(at, a, heads);
  // Rotates the rotary part of queries and joins keys of both parts, values beside them.
  at.sink.stream({.part = Part::kRotary,
                  .kind = OpKind::kRotary,
                  .rows = static_cast<double>(shard.tokens),
                  .width = heads * (a.qk_rope_head_dim + head_dim + a.v_head_dim),
                  .cost = at.options.streams->rotary});
  if (a.indexer.heads > 0) {
    walk_indexer(at, a);
  }
  walk_attention_core(at, {.heads = heads,
                           .kv_heads = heads,
                           .k = head_dim,
                           .value_dim = a.v_head_dim,
                           .most_keys = a.indexer.heads > 0 ? a.indexer.topk : 0});
  at.sink.gemm({.part = Part::kAttentionOutput,
                .m = shard.tokens,
                .n = at.model.hidden,
                .k = heads * a.v_head_dim});
}

}  // namespace sextant::workload
