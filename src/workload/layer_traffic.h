// One layer: its tensor-, context- and expert-parallel messages, in the order they are issued.
//
// `parts` says which parts run: all of them in the forward pass, those that a recomputation policy
// names in the second one. A message belongs to the part that needs or makes what it carries.
#pragma once

#include <type_traits>
#include <variant>

#include "workload/cp_traffic.h"
#include "workload/ep_traffic.h"
#include "workload/tp_traffic.h"

namespace sextant::workload {

// How often the messages of a pass are issued, and when.
struct Times {
  std::int64_t count = 1;
  Phase phase = Phase::kForward;
  PartMask parts = kLayerParts;
};

// Parts at which a mixer's messages stand.
struct MixerParts {
  Part input;
  Part core;
  Part output;
};
inline constexpr MixerParts kAttentionParts{Part::kQkv, Part::kCoreAttention,
                                            Part::kAttentionOutput};
inline constexpr MixerParts kRecurrentParts{Part::kSsmInput, Part::kScan, Part::kSsmOutput};

template <class Mixer>
constexpr MixerParts parts_of_mixer() {
  constexpr bool kRecurrent =
      std::is_same_v<Mixer, describe::Mamba2> || std::is_same_v<Mixer, describe::GatedDeltaNet>;
  return kRecurrent ? kRecurrentParts : kAttentionParts;
}

template <class Mixer>
constexpr std::int64_t columns_of_mixer() {
  return std::is_same_v<Mixer, describe::Attention> ? kQkvMatrices : 1;
}

template <class Sink, class Mixer>
void mixer_forward(const Scene& at, const Mixer& mixer, const Times& times, Sink& sink) {
  constexpr MixerParts kAt = parts_of_mixer<Mixer>();
  sink.reach(Part::kInputNorm);
  if constexpr (std::is_same_v<Mixer, describe::LatentAttention>) {
    enter_latent_forward(at, mixer, times.parts, times.count, times.phase, sink);
  } else if (holds(times.parts, kAt.input)) {
    enter_forward(at, kMixerWords, {at.model.hidden, columns_of_mixer<Mixer>()}, times.count,
                  times.phase, sink);
  }
  sink.reach(kAt.input);
  if (holds(times.parts, kAt.core)) {
    context_forward(at, mixer, times.count, times.phase, sink);
  }
  sink.reach(kAt.core);
  sink.reach(kAt.output);
  if (holds(times.parts, kAt.output)) {
    leave_forward(at, kMixerWords, times.count, times.phase, sink);
  }
}

template <class Sink, class Mixer>
void mixer_backward(const Scene& at, const Mixer& mixer, std::int64_t count, Sink& sink) {
  constexpr MixerParts kAt = parts_of_mixer<Mixer>();
  leave_backward(at, kMixerWords, count, sink);
  sink.reach(kAt.output);
  context_backward(at, mixer, count, sink);
  sink.reach(kAt.core);
  sink.reach(kAt.input);
  if constexpr (std::is_same_v<Mixer, describe::LatentAttention>) {
    enter_latent_backward(at, mixer, count, sink);
  } else {
    enter_backward(at, kMixerWords, {at.model.hidden, columns_of_mixer<Mixer>()}, count, sink);
  }
  sink.reach(Part::kInputNorm);
}

template <class Sink>
void mixer_forward(const Scene& /*at*/, const std::monostate& /*none*/, const Times& /*times*/,
                   Sink& /*sink*/) {}
template <class Sink>
void mixer_backward(const Scene& /*at*/, const std::monostate& /*none*/, std::int64_t /*count*/,
                    Sink& /*sink*/) {}

template <class Sink>
void ffn_forward(const Scene& /*at*/, const std::monostate& /*none*/, const Times& /*times*/,
                 Sink& /*sink*/) {}
template <class Sink>
void ffn_backward(const Scene& /*at*/, const std::monostate& /*none*/, std::int64_t /*count*/,
                  Sink& /*sink*/) {}

template <class Sink>
void ffn_forward(const Scene& at, const describe::DenseFfn& ffn, const Times& times, Sink& sink) {
  sink.reach(Part::kFfnNorm);
  if (holds(times.parts, Part::kFc1)) {
    enter_forward(at, kFfnWords, {at.model.hidden, columns_of(ffn.gated)}, times.count, times.phase,
                  sink);
  }
  sink.reach(Part::kFc1);
  sink.reach(Part::kFc2);
  if (holds(times.parts, Part::kFc2)) {
    leave_forward(at, kFfnWords, times.count, times.phase, sink);
  }
}

template <class Sink>
void ffn_backward(const Scene& at, const describe::DenseFfn& ffn, std::int64_t count, Sink& sink) {
  leave_backward(at, kFfnWords, count, sink);
  sink.reach(Part::kFc2);
  sink.reach(Part::kFc1);
  enter_backward(at, kFfnWords, {at.model.hidden, columns_of(ffn.gated)}, count, sink);
  sink.reach(Part::kFfnNorm);
}

// Megatron routes the rank's own tokens and gives shared experts a region of their own; torchtitan
// puts one region around the whole.
inline bool moe_is_one_region(const Scene& at) {
  return at.tensor == TensorDialect::kDTensor;
}

template <class Sink>
void ffn_forward(const Scene& at, const describe::MoeFfn& moe, const Times& times, Sink& sink) {
  const bool one = moe_is_one_region(at);
  const bool shared = !one && moe.shared_width > 0;
  const RegionInput input{at.model.hidden, columns_of(moe.gated)};
  sink.reach(Part::kFfnNorm);
  if (one && holds(times.parts, Part::kRouter)) {
    enter_forward(at, kFfnWords, input, times.count, times.phase, sink);
  }
  sink.reach(Part::kRouter);
  if (shared && holds(times.parts, Part::kSharedFc1)) {
    enter_forward(at, kSharedWords, input, times.count, times.phase, sink);
  }
  sink.reach(Part::kSharedFc1);
  if (shared && holds(times.parts, Part::kSharedFc2)) {
    leave_forward(at, kSharedWords, times.count, times.phase, sink);
  }
  const DispatchBytes bytes = dispatch_bytes(at, moe);
  if (holds(times.parts, Part::kDispatch)) {
    dispatch_forward(at, bytes, times.count, times.phase, sink);
  }
  sink.reach(Part::kExpertFc1);
  if (holds(times.parts, Part::kCombine)) {
    combine_forward(at, bytes, times.count, times.phase, sink);
  }
  // A checkpoint that stops early does not sum the result again (see recompute.h).
  if (one && times.phase == Phase::kForward) {
    leave_forward(at, kFfnWords, times.count, times.phase, sink);
  }
}

template <class Sink>
void ffn_backward(const Scene& at, const describe::MoeFfn& moe, std::int64_t count, Sink& sink) {
  const bool one = moe_is_one_region(at);
  const RegionInput input{at.model.hidden, columns_of(moe.gated)};
  if (one) {
    leave_backward(at, kFfnWords, count, sink);
  }
  const DispatchBytes bytes = dispatch_bytes(at, moe);
  combine_backward(at, bytes, count, sink);
  sink.reach(Part::kExpertFc1);
  dispatch_backward(at, bytes, count, sink);
  if (!one && moe.shared_width > 0) {
    leave_backward(at, kSharedWords, count, sink);
    sink.reach(Part::kSharedFc1);
    enter_backward(at, kSharedWords, input, count, sink);
  }
  sink.reach(Part::kRouter);
  if (one) {
    enter_backward(at, kFfnWords, input, count, sink);
  }
  sink.reach(Part::kFfnNorm);
}

template <class Sink>
void layer_forward(const Scene& at, const describe::Block& block, const Times& times, Sink& sink) {
  std::visit([&](const auto& mixer) { mixer_forward(at, mixer, times, sink); }, block.mixer);
  std::visit([&](const auto& ffn) { ffn_forward(at, ffn, times, sink); }, block.ffn);
}

template <class Sink>
void layer_backward(const Scene& at, const describe::Block& block, std::int64_t count, Sink& sink) {
  std::visit([&](const auto& ffn) { ffn_backward(at, ffn, count, sink); }, block.ffn);
  std::visit([&](const auto& mixer) { mixer_backward(at, mixer, count, sink); }, block.mixer);
}

// The second forward of layers of this block: `layers.full` of them as a whole, `layers.selective`
// in part.
template <class Sink>
void layer_again(const Scene& at, const describe::Block& block, const RecomputedLayers& layers,
                 Sink& sink) {
  if (layers.full > 0) {
    layer_forward(at, block,
                  {.count = capped(layers.full, at.microbatches),
                   .phase = Phase::kRecompute,
                   .parts = parts_of_whole_layer(block, at.job.framework)},
                  sink);
  }
  if (layers.selective > 0 && at.selective != 0) {
    layer_forward(at, block,
                  {.count = capped(layers.selective, at.microbatches),
                   .phase = Phase::kRecompute,
                   .parts = at.selective},
                  sink);
  }
}

}  // namespace sextant::workload
