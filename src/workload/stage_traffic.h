// All messages of one rank of a stage in a step: passes, pipeline, replicas, update.
#pragma once

#include "workload/end_traffic.h"
#include "workload/fsdp_traffic.h"
#include "workload/pp_traffic.h"
#include "workload/xla_traffic.h"
#include "workload/zero3_traffic.h"

namespace sextant::workload {

// Layers of the stage that hold this block, multi-token prediction's among them.
inline std::int64_t layers_holding(const Scene& at, const StageView& stage, std::size_t block) {
  const bool predicts = block == static_cast<std::size_t>(at.model.mtp_block);
  return stage.blocks[block] + (predicts ? stage.mtp_layers : 0);
}

template <class Sink>
void forward_messages(const Scene& at, const StageView& stage, Sink& sink) {
  const std::int64_t depths = capped(stage.mtp_layers, at.microbatches);
  embedding_forward(at, capped_sum(stage.embedding ? at.microbatches : 0, depths), sink);
  if (depths > 0) {
    projection_forward(at, depths, Phase::kForward, sink);
  }
  for (std::size_t block = 0; block < stage.blocks.size(); ++block) {
    if (const std::int64_t layers = layers_holding(at, stage, block); layers > 0) {
      layer_forward(at, at.model.blocks[block], {.count = capped(layers, at.microbatches)}, sink);
    }
  }
  head_forward(at, capped_sum(stage.head ? at.microbatches : 0, depths), sink);
}

template <class Sink>
void backward_messages(const Scene& at, const StageView& stage, Sink& sink) {
  const std::int64_t depths = capped(stage.mtp_layers, at.microbatches);
  const RecomputedLayers predicted = recomputed_mtp_layers(at.layout.recompute, stage.mtp_layers);
  head_backward(at, capped_sum(stage.head ? at.microbatches : 0, depths), sink);
  for (std::size_t block = stage.blocks.size(); block-- > 0;) {
    const std::int64_t layers = layers_holding(at, stage, block);
    if (layers == 0) {
      continue;
    }
    RecomputedLayers again = repeated_layers(at, stage, block);
    if (block == static_cast<std::size_t>(at.model.mtp_block)) {
      again.full += predicted.full;
      again.selective += predicted.selective;
    }
    layer_again(at, at.model.blocks[block], again, sink);
    layer_backward(at, at.model.blocks[block], capped(layers, at.microbatches), sink);
  }
  if (depths > 0) {
    projection_forward(at, capped(predicted.full, at.microbatches), Phase::kRecompute, sink);
    projection_backward(at, depths, sink);
  }
  embedding_backward(at, capped_sum(stage.embedding ? at.microbatches : 0, depths), sink);
}

// Are parameters gathered unit by unit?
inline bool gathers_layers(const Scene& at) {
  const bool fsdp = at.data == DataDialect::kFsdp2 || at.data == DataDialect::kFlatFsdp;
  return at.replicated && (at.layout.zero == describe::Zero::kParameters ||
                           (fsdp && at.layout.zero != describe::Zero::kNone));
}

// What data parallelism sends for one layer in a microbatch, where it works layer by layer.
template <class Sink>
void layer_parameters(const Scene& at, const describe::Block& block, FsdpWhen when, Sink& sink) {
  if (at.data == DataDialect::kXla) {
    const XlaTimes times{.forward = when == FsdpWhen::kForward ? 1 : 0,
                         .again = when == FsdpWhen::kBackward ? 1 : 0,
                         .reduce = when == FsdpWhen::kReduce ? 1 : 0};
    for_each_parameter(at.model, block,
                       [&](const ParameterShape& shape) { xla_parameter(at, shape, times, sink); });
  } else if (fetches_buckets(at)) {
    zero3_layers(at, block, 1, when, sink);
  } else if (gathers_layers(at)) {
    fsdp_layers(at, layer_units(at, block, 1), when, sink);
  }
}

// What data parallelism sends layer by layer, in all microbatches.
template <class Sink>
void parameter_messages(const Scene& at, const StageView& stage, Sink& sink) {
  if (at.data == DataDialect::kXla) {
    xla_layers(at, stage, sink);
  } else if (fetches_buckets(at)) {
    zero3_all_layers(at, stage, sink);
  } else if (gathers_layers(at)) {
    fsdp_all_layers(at, stage, sink);
  }
}

// Everything that grows with the layers a stage holds: for all stages as one, the sum of theirs.
template <class Sink>
void layer_messages(const Scene& at, const StageView& stage, Sink& sink) {
  forward_messages(at, stage, sink);
  if (at.trains) {
    backward_messages(at, stage, sink);
  }
  parameter_messages(at, stage, sink);
}

// Replicas kept in step by buckets of a stage's trained parameters.
template <class Sink>
void bucket_messages(const Scene& at, const StageView& stage, const Weights& trained, Sink& sink) {
  switch (at.data) {
    case DataDialect::kFsdp2:
    case DataDialect::kFlatFsdp:
      ddp_replicas(at, trained, sink);
      return;
    case DataDialect::kDeepspeed:
      deepspeed_replicas(at, trained.dense, dense_groups(at), sink);
      deepspeed_replicas(at, trained.experts, expert_groups(at), sink);
      return;
    case DataDialect::kMegatron:
      megatron_replicas(at, stage, trained.dense, dense_groups(at), sink);
      megatron_replicas(at, stage, trained.experts, expert_groups(at), sink);
      return;
    case DataDialect::kXla:
      return;
  }
}

inline bool keeps_buckets(const Scene& at) {
  return at.trains && at.replicated && at.data != DataDialect::kXla && !gathers_layers(at);
}

// Does anything ask for a stage's parameters as a sum?
inline bool asks_sums(const Scene& at) {
  return keeps_buckets(at) || sums_whole_parameters(at);
}

// Of what depends on where a stage stands, all but messages to its neighbours: gradients and
// parameters in buckets or at the ends, scalars around the update.
// `sums` (here and below): the stage's, where asks_sums().
template <class Sink>
void replica_messages(const Scene& at, const StageView& stage, const StepSums& sums, Sink& sink) {
  if (keeps_buckets(at)) {
    bucket_messages(at, stage, sums.trained, sink);
  } else if (at.data == DataDialect::kXla) {
    xla_ends(at, stage, sink);
  } else if (fetches_buckets(at)) {
    zero3_ends(at, stage, sink);
  } else if (gathers_layers(at)) {
    fsdp_ends(at, stage, sink);
  }
  sequence_parallel_gradients(at, sums.whole, sink);
  shared_embedding(at, stage, sink);
  update_messages(at, stage, sink);
}

// What depends on where a stage stands: its neighbours, its ends, the cut into buckets.
template <class Sink>
void position_messages(const Scene& at, const StageView& stage, const StepSums& sums, Sink& sink) {
  pipeline_messages(at, stage, sink);
  replica_messages(at, stage, sums, sink);
}

template <class Sink>
void stage_messages(const Scene& at, const StageView& stage, Sink& sink) {
  layer_messages(at, stage, sink);
  position_messages(at, stage, asks_sums(at) ? step_sums(at, stage) : StepSums{}, sink);
}

}  // namespace sextant::workload
