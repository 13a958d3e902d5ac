// Pipeline parallelism: activations to the next stage, gradients to the one before, once a
// microbatch. The tensor is what the stage's last region leaves: the rank's own tokens under
// sequence parallelism, all of them without (Megatron's old scatter-gather optimisation, which
// sent a tp-th of those and gathered it on arrival, is gone).
//
// Also the all-reduce that keeps a tied embedding's two copies in step. Source: Megatron-LM
// d98e8a64, core/pipeline_parallel/schedules.py (get_tensor_shapes),
// core/distributed/finalize_model_grads.py (_allreduce_word_embedding_grads).
#pragma once

#include "workload/stages.h"
#include "workload/traffic_calls.h"

namespace sextant::workload {

// Does what one stage hands to a neighbour leave the rank? Where the pipeline turns (ZB-V,
// DualPipeV), both are on one. REQUIRES: pp > 1, to = from ± 1.
inline bool is_sent(const Scene& at, std::int64_t from, std::int64_t to) {
  const bool folds = at.layout.schedule == describe::Schedule::kZbv ||
                     at.layout.schedule == describe::Schedule::kDualPipeV;
  const bool turns = folds && std::max(from, to) % at.shard.pp == 0;
  return to >= 0 && to < at.shard.pp * at.shard.vpp && !turns;
}

template <class Sink>
void pipeline_messages(const Scene& at, const StageView& stage, Sink& sink) {
  if (at.shard.pp == 1) {
    return;
  }
  Call call{.what = "activations to the next stage",
            .group = GroupKind::kPipeline,
            .size = at.shard.pp,
            .format = at.activation,
            .count = at.microbatches,
            .phase = Phase::kForward,
            .hides = at.pipeline};
  const std::int64_t bytes = at.region_bytes;
  if (is_sent(at, stage.index, stage.index + 1)) {
    send(sink, call, bytes);
  }
  if (at.trains && is_sent(at, stage.index, stage.index - 1)) {
    call.what = "gradients to the stage before";
    call.phase = Phase::kBackward;
    send(sink, call, bytes);
  }
}

// Embedding on the first stage, a copy on the last: the head (tied) or multi-token prediction.
template <class Sink>
void shared_embedding(const Scene& at, const StageView& stage, Sink& sink) {
  const bool copied = at.model.tied_head || at.model.mtp_layers > 0;
  const bool end = stage.embedding != stage.head;
  if (!at.weight_gradients || at.shard.pp == 1 || !copied || !end) {
    return;
  }
  constexpr std::int64_t kCopies = 2;
  const std::int64_t elements = capped(divided_up(at.shard.vocab, at.shard.tp), at.model.hidden);
  all_reduce(sink,
             {.what = "gradient of the shared embedding",
              .group = GroupKind::kEmbedding,
              .size = kCopies,
              .format = at.gradient,
              .count = 1,
              .phase = Phase::kGradient,
              .hides = Hides::kNothing},
             capped(elements, at.gradient.bytes));
}

}  // namespace sextant::workload
