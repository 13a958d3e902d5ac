// Tensor parallelism: what surrounds a region of column-parallel then row-parallel products.
//
// Without sequence parallelism a region's input is whole on every rank and its output a partial sum
// that is all-reduced; the input's gradient is a partial sum too. With it, the input is gathered
// and the output scattered, and the other way round in the backward pass.
//
//   Megatron  one reduction of the input's gradient, whatever reads it; under sequence parallelism
//             the input is gathered once more for the weight gradient, since only the rank's own
//             part was kept.
//   DTensor   without sequence parallelism each column-parallel matrix reduces its own input
//             gradient (q, k and v: three); with it the gathered input is kept.
// Source: Megatron-LM d98e8a64, core/tensor_parallel/layers.py; PyTorch 2.11
// torch/distributed/tensor/parallel/style.py, and the calls it was seen to make
// (docs/models/traffic.md).
#pragma once

#include <string_view>

#include "workload/traffic_calls.h"

namespace sextant::workload {

struct RegionWords {
  std::string_view input;
  std::string_view input_gradient;
  std::string_view input_again;
  std::string_view output;
  std::string_view output_gradient;
};
inline constexpr RegionWords kMixerWords{"attention input", "attention input gradient",
                                         "attention input again", "attention output",
                                         "attention output gradient"};
inline constexpr RegionWords kFfnWords{"feed-forward input", "feed-forward input gradient",
                                       "feed-forward input again", "feed-forward output",
                                       "feed-forward output gradient"};
inline constexpr RegionWords kSharedWords{"shared expert input", "shared expert input gradient",
                                          "shared expert input again", "shared expert output",
                                          "shared expert output gradient"};
inline constexpr RegionWords kEmbeddingWords{"", "", "", "embedding output",
                                             "embedding output gradient"};
inline constexpr RegionWords kHeadWords{"head input", "head input gradient", "head input again", "",
                                        ""};
inline constexpr RegionWords kMtpWords{
    "multi-token projection input", "multi-token projection input gradient",
    "multi-token projection input again", "multi-token projection output",
    "multi-token projection output gradient"};
inline constexpr RegionWords kQueryWords{"query latent", "query latent gradient",
                                         "query latent again", "", ""};
inline constexpr RegionWords kKeyWords{"key-value latent", "key-value latent gradient",
                                       "key-value latent again", "", ""};

// What a region reads: `width` features, by `columns` column-parallel matrices.
struct RegionInput {
  std::int64_t width = 0;
  std::int64_t columns = 1;
};

inline Call tensor_call(const Scene& at, std::string_view what, std::int64_t count, Phase phase) {
  return {.what = what,
          .group = GroupKind::kTp,
          .size = at.shard.tp,
          .format = at.activation,
          .count = count,
          .phase = phase,
          .hides = phase == Phase::kBackward ? at.tensor_backward : at.tensor_forward};
}

template <class Sink>
[[gnu::always_inline]] inline void enter_forward(const Scene& at, const RegionWords& words,
                                                 const RegionInput& input, std::int64_t count,
                                                 Phase phase, Sink& sink) {
  if (at.shard.sp) {
    all_gather(sink, tensor_call(at, words.input, count, phase),
               activation_bytes(at, at.shard.region_tokens, input.width));
  }
}

template <class Sink>
[[gnu::always_inline]] inline void enter_backward(const Scene& at, const RegionWords& words,
                                                  const RegionInput& input, std::int64_t count,
                                                  Sink& sink) {
  if (at.shard.tp == 1) {
    return;
  }
  Call call = tensor_call(at, words.input_gradient, count, Phase::kBackward);
  if (!at.shard.sp) {
    call.count = at.tensor == TensorDialect::kDTensor ? capped(count, input.columns) : count;
    all_reduce(sink, call, activation_bytes(at, at.shard.tokens, input.width));
    return;
  }
  const std::int64_t part = activation_bytes(at, at.shard.region_tokens, input.width);
  if (at.tensor == TensorDialect::kMegatron && at.weight_gradients) {
    all_gather(sink, tensor_call(at, words.input_again, count, Phase::kBackward), part);
  }
  reduce_scatter(sink, call, part);
}

// The output of a region is hidden wide.
template <class Sink>
[[gnu::always_inline]] inline void leave_forward(const Scene& at, const RegionWords& words,
                                                 std::int64_t count, Phase phase, Sink& sink) {
  if (at.shard.tp == 1) {
    return;
  }
  const Call call = tensor_call(at, words.output, count, phase);
  if (at.shard.sp) {
    reduce_scatter(sink, call, at.region_bytes);
  } else {
    all_reduce(sink, call, at.all_bytes);
  }
}

template <class Sink>
[[gnu::always_inline]] inline void leave_backward(const Scene& at, const RegionWords& words,
                                                  std::int64_t count, Sink& sink) {
  if (at.shard.sp) {
    Call call = tensor_call(at, words.output_gradient, count, Phase::kBackward);
    call.hides = at.tensor_forward;  // the gradient is needed before anything else
    all_gather(sink, call, at.region_bytes);
  }
}

// Matrices that read a mixer's or feed-forward part's input.
inline constexpr std::int64_t kQkvMatrices = 3;

inline std::int64_t columns_of(bool gated) {
  return gated ? 2 : 1;
}

// Multi-head latent attention. Megatron keeps the down-projections whole, so that latents are
// gathered instead of the hidden state, and the rotary part of the keys beside them.
// Source: Megatron-LM 003b4ce2, core/transformer/multi_latent_attention.py.
template <class Sink>
void enter_latent_forward(const Scene& at, const describe::LatentAttention& mixer, PartMask parts,
                          std::int64_t count, Phase phase, Sink& sink) {
  if (at.shard.tp == 1) {
    return;
  }
  if (at.tensor == TensorDialect::kDTensor) {
    if (holds(parts, Part::kMlaQueryDown) || holds(parts, Part::kMlaKvDown)) {
      enter_forward(at, kMixerWords, {at.model.hidden, 1}, count, phase, sink);
    }
    return;
  }
  const bool compressed = mixer.q_lora_rank > 0;
  if (holds(parts, Part::kMlaQueryUp)) {
    enter_forward(at, compressed ? kQueryWords : kMixerWords,
                  {compressed ? mixer.q_lora_rank : at.model.hidden, 1}, count, phase, sink);
  }
  if (holds(parts, Part::kMlaKvUp)) {
    enter_forward(at, kKeyWords, {mixer.kv_lora_rank, 1}, count, phase, sink);
  }
  if (at.shard.sp && holds(parts, Part::kMlaKvDown)) {
    all_gather(sink, tensor_call(at, "rotary keys", count, phase),
               activation_bytes(at, at.shard.region_tokens, mixer.qk_rope_head_dim));
  }
}

template <class Sink>
void enter_latent_backward(const Scene& at, const describe::LatentAttention& mixer,
                           std::int64_t count, Sink& sink) {
  if (at.shard.tp == 1) {
    return;
  }
  const bool compressed = mixer.q_lora_rank > 0;
  if (at.tensor == TensorDialect::kDTensor) {
    if (at.shard.sp) {
      enter_backward(at, kMixerWords, {at.model.hidden, 1}, count, sink);
    }
    const Call call = tensor_call(at, kQueryWords.input_gradient, count, Phase::kBackward);
    all_reduce(
        sink, call,
        activation_bytes(at, at.shard.tokens, compressed ? mixer.q_lora_rank : std::int64_t{0}));
    all_reduce(sink, tensor_call(at, kKeyWords.input_gradient, count, Phase::kBackward),
               activation_bytes(at, at.shard.tokens, mixer.kv_lora_rank));
    return;
  }
  if (at.shard.sp) {
    reduce_scatter(sink, tensor_call(at, "rotary keys gradient", count, Phase::kBackward),
                   activation_bytes(at, at.shard.region_tokens, mixer.qk_rope_head_dim));
  }
  enter_backward(at, kKeyWords, {mixer.kv_lora_rank, 1}, count, sink);
  enter_backward(at, compressed ? kQueryWords : kMixerWords,
                 {compressed ? mixer.q_lora_rank : at.model.hidden, 1}, count, sink);
}

}  // namespace sextant::workload
