// Context parallelism: how queries meet the keys and values of other context ranks.
//
//   ring        keys and values go round in cp − 1 sends; backward they do so again, and their
//               gradients as often behind them
//   all-gather  keys and values are gathered, in backward again, and their gradients scattered
//   all-to-all  sequence shards become head shards and back (Ulysses): queries, keys, values in,
//               outputs out; the transposes backward
//   both        all-to-all inside groups of cp_inner ranks, ring between them
// Source: TransformerEngine 2.x, pytorch/attention/dot_product_attention/context_parallel.py.
// PyTorch's own context_parallel gathers keys and values and sends gradients round the ring; its
// ring is taken to carry the same bytes. Recurrent mixers exchange sequence for heads by all-to-all
// whatever the method (Megatron-LM, core/ssm/mamba_context_parallel.py).
#pragma once

#include <string_view>
#include <variant>

#include "workload/traffic_calls.h"
#include "workload/weights.h"

namespace sextant::workload {

// Bytes on one rank, of its own tokens.
struct AttentionBytes {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t values = 0;
  std::int64_t outputs = 0;
};

inline AttentionBytes attention_bytes(const Scene& at, const describe::Attention& a) {
  const std::int64_t heads = divided_up(a.heads, at.shard.tp) * a.head_dim;
  const std::int64_t kv = local_kv_heads(a.kv_heads, at.shard.tp) * a.head_dim;
  const std::int64_t tokens = at.shard.tokens;
  return {activation_bytes(at, tokens, heads), activation_bytes(at, tokens, kv),
          activation_bytes(at, tokens, kv), activation_bytes(at, tokens, heads)};
}

// MLA's keys and values are sent after their up-projection, head by head.
inline AttentionBytes attention_bytes(const Scene& at, const describe::LatentAttention& a) {
  const std::int64_t heads = divided_up(a.heads, at.shard.tp);
  const std::int64_t key = heads * (a.qk_nope_head_dim + a.qk_rope_head_dim);
  const std::int64_t value = heads * a.v_head_dim;
  const std::int64_t tokens = at.shard.tokens;
  return {activation_bytes(at, tokens, key), activation_bytes(at, tokens, key),
          activation_bytes(at, tokens, value), activation_bytes(at, tokens, value)};
}

// Ranks of the inner all-to-all of a2a+p2p: as asked, or the most that divide both cp and the kv
// heads of a rank.
std::int64_t cp_inner_size(const Scene& at, std::int64_t kv_heads);

inline Call context_call(const Scene& at, std::string_view what, std::int64_t count, Phase phase) {
  return {.what = what,
          .group = GroupKind::kCp,
          .size = at.shard.cp,
          .format = at.activation,
          .count = count,
          .phase = phase,
          .hides = at.context};
}

template <class Sink>
void ring(const Scene& at, std::string_view what, Call call, std::int64_t bytes, Sink& sink) {
  call.what = what;
  call.hides = at.ring;
  call.count = capped(call.count, call.size - 1);
  send(sink, call, bytes);
}

template <class Sink>
void exchange(std::string_view what, Call call, std::int64_t bytes, Sink& sink) {
  call.what = what;
  all_to_all(sink, call, bytes, bytes);
}

template <class Sink>
void heads_forward(const AttentionBytes& bytes, const Call& call, Sink& sink) {
  exchange("queries", call, bytes.queries, sink);
  exchange("keys", call, bytes.keys, sink);
  exchange("values", call, bytes.values, sink);
}

template <class Sink>
void heads_backward(const AttentionBytes& bytes, const Call& call, Sink& sink) {
  exchange("query gradients", call, bytes.queries, sink);
  exchange("key gradients", call, bytes.keys, sink);
  exchange("value gradients", call, bytes.values, sink);
}

struct CpSplit {
  Call inner;
  Call outer;
};

inline CpSplit cp_split(const Scene& at, std::int64_t kv_heads, const Call& call) {
  CpSplit split{call, call};
  split.inner.group = GroupKind::kCpInner;
  split.inner.size = cp_inner_size(at, kv_heads);
  split.outer.group = GroupKind::kCpOuter;
  split.outer.size = at.shard.cp / split.inner.size;
  return split;
}

// XLA gathers keys and values, whatever the layout asks for.
inline describe::CpMethod cp_method(const Scene& at) {
  return at.tensor == TensorDialect::kXla ? describe::CpMethod::kAllGather : at.layout.cp_method;
}

template <class Sink>
void attention_cp_forward(const Scene& at, const AttentionBytes& bytes, std::int64_t kv_heads,
                          const Call& call, Sink& sink) {
  switch (cp_method(at)) {
    case describe::CpMethod::kP2pRing:
      ring(at, "keys and values", call, capped_sum(bytes.keys, bytes.values), sink);
      return;
    case describe::CpMethod::kAllGather: {
      Call gather = call;
      gather.what = "keys";
      all_gather(sink, gather, bytes.keys);
      gather.what = "values";
      all_gather(sink, gather, bytes.values);
      return;
    }
    case describe::CpMethod::kAllToAll:
      heads_forward(bytes, call, sink);
      exchange("attention result", call, bytes.outputs, sink);
      return;
    case describe::CpMethod::kAllToAllP2p: {
      const CpSplit split = cp_split(at, kv_heads, call);
      heads_forward(bytes, split.inner, sink);
      ring(at, "keys and values", split.outer, capped_sum(bytes.keys, bytes.values), sink);
      exchange("attention result", split.inner, bytes.outputs, sink);
      return;
    }
  }
}

template <class Sink>
void ring_backward(const Scene& at, const AttentionBytes& bytes, const Call& call, Sink& sink) {
  ring(at, "keys and values", call, capped_sum(bytes.keys, bytes.values), sink);
  ring(at, "key and value gradients", call, capped_sum(bytes.keys, bytes.values), sink);
}

template <class Sink>
void attention_cp_backward(const Scene& at, const AttentionBytes& bytes, std::int64_t kv_heads,
                           const Call& call, Sink& sink) {
  switch (cp_method(at)) {
    case describe::CpMethod::kP2pRing:
      ring_backward(at, bytes, call, sink);
      return;
    case describe::CpMethod::kAllGather: {
      if (at.tensor != TensorDialect::kXla) {
        attention_cp_forward(at, bytes, kv_heads, call, sink);
      }
      Call scatter = call;
      if (at.tensor == TensorDialect::kDTensor) {
        ring(at, "key and value gradients", scatter, capped_sum(bytes.keys, bytes.values), sink);
        return;
      }
      scatter.what = "key gradients";
      reduce_scatter(sink, scatter, bytes.keys);
      scatter.what = "value gradients";
      reduce_scatter(sink, scatter, bytes.values);
      return;
    }
    case describe::CpMethod::kAllToAll:
      exchange("attention result gradient", call, bytes.outputs, sink);
      heads_backward(bytes, call, sink);
      return;
    case describe::CpMethod::kAllToAllP2p: {
      const CpSplit split = cp_split(at, kv_heads, call);
      exchange("attention result gradient", split.inner, bytes.outputs, sink);
      ring_backward(at, bytes, split.outer, sink);
      heads_backward(bytes, split.inner, sink);
      return;
    }
  }
}

// Features that a recurrent mixer's input projection makes, on one tensor-parallel rank, and those
// it hands to its output projection.
struct RecurrentWidths {
  std::int64_t projected = 0;
  std::int64_t result = 0;
};

inline RecurrentWidths recurrent_widths(const Scene& at, const describe::Mamba2& m) {
  return {divided_up(2 * m.inner() + 2 * m.groups * m.state + m.heads, at.shard.tp),
          divided_up(m.inner(), at.shard.tp)};
}

inline RecurrentWidths recurrent_widths(const Scene& at, const describe::GatedDeltaNet& g) {
  const std::int64_t keys = g.key_heads * g.key_head_dim;
  const std::int64_t values = g.value_heads * g.value_head_dim;
  return {divided_up(2 * keys + 2 * values + 2 * g.value_heads, at.shard.tp),
          divided_up(values, at.shard.tp)};
}

template <class Sink, class Mixer>
void recurrent_cp(const Scene& at, const Mixer& mixer, const Call& call, Sink& sink) {
  const RecurrentWidths widths = recurrent_widths(at, mixer);
  const bool backward = call.phase == Phase::kBackward;
  exchange(backward ? "recurrence result gradient" : "recurrence input", call,
           activation_bytes(at, at.shard.tokens, backward ? widths.result : widths.projected),
           sink);
  exchange(backward ? "recurrence input gradient" : "recurrence result", call,
           activation_bytes(at, at.shard.tokens, backward ? widths.projected : widths.result),
           sink);
}

inline std::int64_t kv_heads_of(const describe::Attention& a) {
  return a.kv_heads;
}
inline std::int64_t kv_heads_of(const describe::LatentAttention& a) {
  return a.heads;
}

// One layer's mixer, `count` times. Forward and recomputation are the same messages.
template <class Sink, class Mixer>
void context_forward(const Scene& at, const Mixer& mixer, std::int64_t count, Phase phase,
                     Sink& sink) {
  if (at.shard.cp == 1) {
    return;
  }
  const Call call = context_call(at, "", count, phase);
  if constexpr (requires { kv_heads_of(mixer); }) {
    attention_cp_forward(at, attention_bytes(at, mixer), kv_heads_of(mixer), call, sink);
  } else {
    recurrent_cp(at, mixer, call, sink);
  }
}

template <class Sink, class Mixer>
void context_backward(const Scene& at, const Mixer& mixer, std::int64_t count, Sink& sink) {
  if (at.shard.cp == 1) {
    return;
  }
  const Call call = context_call(at, "", count, Phase::kBackward);
  if constexpr (requires { kv_heads_of(mixer); }) {
    attention_cp_backward(at, attention_bytes(at, mixer), kv_heads_of(mixer), call, sink);
  } else {
    recurrent_cp(at, mixer, call, sink);
  }
}

}  // namespace sextant::workload
