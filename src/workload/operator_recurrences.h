// The forward of Mamba-2 and Gated DeltaNet on one rank, announced to a sink (operator_calls.h).
//
// Heads are dealt over tensor-parallel ranks. Under context parallelism a rank is taken to scan its
// own tokens: exchanging heads for tokens, as frameworks do, leaves the same work.
#pragma once

#include "workload/operator_mixers.h"

namespace sextant::workload {

// A depth-wise convolution over time: as much memory as an addition, and next to no arithmetic.
template <class Sink>
void walk_convolution(const Walk<Sink>& at, std::int64_t width) {
  at.sink.stream(
      {.part = Part::kConvolution,
       .kind = OpKind::kConvolution,
       .rows = static_cast<double>(at.shard.tokens),
       .width = width,
       .cost = {.read = 1.0, .written = 1.0, .backward_read = 2.0, .backward_written = 1.0}});
}

template <class Sink>
void walk_gated_norm(const Walk<Sink>& at, std::int64_t width) {
  at.sink.stream({.part = Part::kGatedNorm,
                  .kind = OpKind::kNorm,
                  .rows = static_cast<double>(at.shard.tokens),
                  .width = width,
                  .cost = kGating});
}

// The state-space dual form in chunks of Q tokens. Source: Dao and Gu, arXiv:2405.21060, section
// 6; the backward pass makes the chunks' scores and states again (mamba_ssm 2.2,
// ops/triton/ssd_combined.py).
template <class Sink>
void walk_ssd(const Walk<Sink>& at, const describe::Mamba2& m, std::int64_t heads,
              std::int64_t groups) {
  // Source: mamba_ssm 2.2, modules/mamba2.py: chunk_size = 256.
  constexpr std::int64_t kDefaultChunk = 256;
  constexpr double kFp32 = 4.0;
  const auto chunk = static_cast<double>(m.chunk > 0 ? m.chunk : kDefaultChunk);
  const auto inner = static_cast<double>(heads * m.head_dim);
  const auto state = static_cast<double>(m.state);
  const double scores = 2.0 * static_cast<double>(groups) * chunk * state;
  const double within = inner * chunk;        // half of the chunk's square
  const double states = 2.0 * inner * state;  // into the chunk's state; as much out of it
  const double a = static_cast<double>(at.shard.activation_bytes);
  const double inputs =
      a * (inner + 2.0 * static_cast<double>(groups) * state + static_cast<double>(heads));
  const double kept = kFp32 * inner * state / chunk;  // a chunk's state, once through memory
  at.sink.scan({.part = Part::kScan,
                .batch = at.shard.mbs,
                .m = at.shard.local_sequence,
                .heads = heads,
                .head_dim = m.head_dim,
                .state = m.state,
                .flops = Flops(scores + within + 2.0 * states),
                .backward_flops = Flops(3.0 * scores + 2.0 * within + 5.0 * states),
                .read = Bytes(inputs + 2.0 * kept),
                .written = Bytes(a * inner + 2.0 * kept),
                .backward_read = Bytes(2.0 * inputs + a * inner + 4.0 * kept),
                .backward_written = Bytes(inputs + 4.0 * kept)});
}

template <class Sink>
void walk_mixer(const Walk<Sink>& at, const describe::Mamba2& m) {
  const Shard& shard = at.shard;
  const std::int64_t heads = divided_up(m.heads, shard.tp);
  const std::int64_t groups = divided_up(m.groups, shard.tp);
  const std::int64_t inner = heads * m.head_dim;
  const std::int64_t states = 2 * groups * m.state;
  const std::int64_t projected = 2 * inner + states + heads;
  const std::int64_t all_states = 2 * m.groups * m.state;
  at.sink.gemm({.part = Part::kSsmInput,
                .m = shard.tokens,
                .n = projected,
                .k = at.model.hidden,
                .bias = m.projection_bias,
                .model_share =
                    column_share(shard, (projected - states) * shard.tp + all_states, projected)});
  walk_convolution(at, inner + states);
  walk_ssd(at, m, heads, groups);
  walk_gated_norm(at, inner);
  at.sink.gemm({.part = Part::kSsmOutput,
                .m = shard.tokens,
                .n = at.model.hidden,
                .k = inner,
                .bias = m.projection_bias});
}

// The gated delta rule in chunks: keys against keys, their triangular inverse applied to keys and
// values, states in and out, queries against keys and values. The backward pass makes the applied
// inverse and the states again. Source: Yang et al., arXiv:2412.06464, section 3.3, and
// flash-linear-attention's chunk_gated_delta_rule with its chunk of 64.
template <class Sink>
void walk_delta_rule(const Walk<Sink>& at, const describe::GatedDeltaNet& g, std::int64_t key_heads,
                     std::int64_t value_heads) {
  constexpr double kChunk = 64.0;
  constexpr double kFp32 = 4.0;
  const auto heads = static_cast<double>(value_heads);
  const auto k = static_cast<double>(g.key_head_dim);
  const auto v = static_cast<double>(g.value_head_dim);
  const double inverse = 2.0 * kChunk * (k + v);
  const double scores = 2.0 * kChunk * (2.0 * k + v);
  const double a = static_cast<double>(at.shard.activation_bytes);
  const double inputs = a * (2.0 * static_cast<double>(key_heads) * k + heads * v + 2.0 * heads);
  const double kept = kFp32 * heads * k * v / kChunk;
  const double applied = a * heads * (k + v);
  at.sink.scan({.part = Part::kScan,
                .batch = at.shard.mbs,
                .m = at.shard.local_sequence,
                .heads = value_heads,
                .head_dim = g.value_head_dim,
                .state = g.key_head_dim,
                .flops = Flops(heads * (inverse + scores + 6.0 * k * v)),
                .backward_flops = Flops(heads * (3.0 * inverse + 2.0 * scores + 16.0 * k * v)),
                .read = Bytes(inputs + applied + kept),
                .written = Bytes(a * heads * v + applied + kept),
                .backward_read = Bytes(2.0 * inputs + a * heads * v + 2.0 * applied + 2.0 * kept),
                .backward_written = Bytes(inputs + 2.0 * applied + 2.0 * kept)});
}

template <class Sink>
void walk_mixer(const Walk<Sink>& at, const describe::GatedDeltaNet& g) {
  const Shard& shard = at.shard;
  const std::int64_t key_heads = divided_up(g.key_heads, shard.tp);
  const std::int64_t value_heads = divided_up(g.value_heads, shard.tp);
  const std::int64_t keys = key_heads * g.key_head_dim;
  const std::int64_t values = value_heads * g.value_head_dim;
  at.sink.gemm({.part = Part::kSsmInput,
                .m = shard.tokens,
                .n = 2 * keys + 2 * values + 2 * value_heads,
                .k = at.model.hidden});
  walk_convolution(at, 2 * keys + values);
  walk_norm(at, Part::kQkNorm, shard.tokens, 2 * keys);
  walk_delta_rule(at, g, key_heads, value_heads);
  walk_gated_norm(at, values);
  at.sink.gemm({.part = Part::kSsmOutput, .m = shard.tokens, .n = at.model.hidden, .k = values});
}

}  // namespace sextant::workload
