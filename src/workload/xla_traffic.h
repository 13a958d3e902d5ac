// What XLA compiles a JAX training step's shardings to (MaxText).
//
// Layers follow the tensor-parallel rules of tp_traffic.h: one reduction a region, no activation
// gathered twice. Replicas: every matrix is gathered by itself, in the loop over layers of the
// forward pass and again in that of the backward pass (MaxText's scan_layers; a program whose loop
// is unrolled keeps what it gathered unless the layer is computed again), and its gradient
// scattered, in the format of the products; norms stay whole and are all-reduced. A sharded
// embedding table is never gathered: token vectors change hands instead.
// Source: compilations in data/measured/xla_collectives.csv. Not modelled: the involuntary
// rematerialisations that file marks as fallback, and gathers doubled by unmerged replica groups.
#pragma once

#include "workload/ep_traffic.h"
#include "workload/fsdp_traffic.h"

namespace sextant::workload {

// How often a matrix is gathered in a step, and its gradient reduced.
struct XlaTimes {
  std::int64_t forward = 0;
  std::int64_t again = 0;
  std::int64_t reduce = 0;
};

inline bool xla_shards(const Scene& at) {
  return at.layout.zero != describe::Zero::kNone && at.shard.zero_shards > 1;
}

template <class Sink>
void xla_gather(const Scene& at, std::int64_t elements, const CopyGroups& groups,
                std::int64_t count, Phase phase, Sink& sink) {
  Call call = replica_call(groups.shard, groups.shards, groups.parameters, at.parameter);
  call.count = count;
  call.phase = phase;
  call.hides = at.gather;
  all_gather(sink, call, capped(divided_up(elements, groups.shards), at.parameter.bytes));
}

// A matrix's gradient: scattered over its shards and summed over their copies, or summed at once.
template <class Sink>
void xla_reduce(const Scene& at, std::int64_t elements, const CopyGroups& groups,
                std::int64_t count, Sink& sink) {
  const bool sharded = xla_shards(at);
  Call call = replica_call(groups.all, groups.copies, groups.gradients, at.gradient);
  call.count = count;
  call.phase = Phase::kBackward;
  call.hides = at.reduce;
  if (!sharded) {
    all_reduce(sink, call, capped(elements, at.gradient.bytes));
    return;
  }
  const std::int64_t part = capped(divided_up(elements, groups.shards), at.gradient.bytes);
  call.group = groups.shard;
  call.size = groups.shards;
  reduce_scatter(sink, call, part);
  call.group = groups.replicate;
  call.size = groups.replicas;
  all_reduce(sink, call, part);
}

// A vector is whole everywhere; under sequence parallelism its gradient is a partial sum over tp
// too.
template <class Sink>
void xla_vector(const Scene& at, const ParameterShape& shape, std::int64_t count, Sink& sink) {
  const bool partial = at.shard.sp && shape.norm;
  const bool everywhere = partial && at.shard.pp == 1 && at.shard.dp * at.shard.cp > 1;
  Call call =
      replica_call(GroupKind::kDp, at.shard.dp * at.shard.cp, "gradients of norms", at.gradient);
  call.count = capped(count, shape.count);
  call.phase = Phase::kBackward;
  const std::int64_t bytes = capped(shape.local_rows(at.shard.tp), at.gradient.bytes);
  if (everywhere) {
    call.group = GroupKind::kWorld;
    call.size = capped(call.size, at.shard.tp);
  }
  all_reduce(sink, call, bytes);
  if (partial && !everywhere) {
    call.group = GroupKind::kTp;
    call.size = at.shard.tp;
    all_reduce(sink, call, bytes);
  }
}

template <class Sink>
void xla_parameter(const Scene& at, const ParameterShape& shape, const XlaTimes& times,
                   Sink& sink) {
  if (shape.columns == 1) {
    if (at.weight_gradients) {
      xla_vector(at, shape, times.reduce, sink);
    }
    return;
  }
  const bool expert = shape.experts > 0;
  const std::int64_t split = expert ? at.shard.etp : at.shard.tp;
  const std::int64_t held = expert ? divided_up(shape.experts, at.shard.ep) : 1;
  const std::int64_t elements =
      capped(held, capped(shape.local_rows(split), shape.local_columns(split)));
  const CopyGroups groups = expert ? expert_groups(at) : dense_groups(at);
  if (xla_shards(at)) {
    xla_gather(at, elements, groups, capped(times.forward, shape.count), Phase::kForward, sink);
    xla_gather(at, elements, groups, capped(times.again, shape.count), Phase::kRecompute, sink);
  }
  if (at.weight_gradients) {
    xla_reduce(at, elements, groups, capped(times.reduce, shape.count), sink);
  }
}

// The lookup in a table whose hidden axis is sharded: token vectors are exchanged forward, their
// gradients backward. Under tensor parallelism the vocabulary is split as well.
template <class Sink>
void xla_lookup(const Scene& at, std::int64_t count, Sink& sink) {
  constexpr Format kIds{"int32", 4};
  const std::int64_t all = at.all_bytes;
  const std::int64_t region = at.region_bytes;
  Call call =
      replica_call(GroupKind::kShard, at.shard.zero_shards, "embedding output", at.activation);
  call.count = count;
  call.phase = Phase::kForward;
  if (at.shard.tp == 1) {
    Call ids = in_format(call, kIds);
    ids.what = "token ids";
    all_gather(sink, ids, capped(at.shard.tokens, kIds.bytes));
  }
  all_to_all(sink, call, region, region);
  if (at.trains) {
    call.what = "embedding output gradient";
    call.phase = Phase::kBackward;
    if (at.shard.tp > 1 && !at.shard.sp) {
      all_gather(sink, call, all);
    } else {
      all_to_all(sink, call, all, all);
    }
  }
}

// The table's own gradient, summed where the scattered vectors were added up.
template <class Sink>
void xla_table(const Scene& at, const ParameterShape& shape, std::int64_t count, Sink& sink) {
  if (!xla_shards(at)) {
    xla_parameter(at, shape, {.forward = 0, .again = 0, .reduce = count}, sink);
    return;
  }
  const std::int64_t elements =
      capped(shape.local_rows(at.shard.tp), divided_up(shape.columns, at.shard.zero_shards));
  Call call = replica_call(GroupKind::kReplicate, at.shard.replicas, "gradients", at.gradient);
  call.count = at.weight_gradients ? count : 0;
  call.phase = Phase::kBackward;
  all_reduce(sink, call, capped(elements, at.gradient.bytes));
}

template <class Sink>
void xla_layers(const Scene& at, const StageView& stage, Sink& sink) {
  for (std::size_t block = 0; block < stage.blocks.size(); ++block) {
    const std::int64_t runs = capped(stage.blocks[block], at.microbatches);
    const XlaTimes times{.forward = runs, .again = at.trains ? runs : 0, .reduce = runs};
    if (runs > 0) {
      for_each_parameter(at.model, at.model.blocks[block], [&](const ParameterShape& shape) {
        xla_parameter(at, shape, times, sink);
      });
    }
  }
}

template <class Sink>
void xla_ends(const Scene& at, const StageView& stage, Sink& sink) {
  const std::int64_t runs = at.microbatches;
  const XlaTimes once{.forward = runs, .again = 0, .reduce = runs};
  if (stage.embedding) {
    if (xla_shards(at)) {
      xla_lookup(at, runs, sink);
    }
    for_each_embedding_parameter(at.model, at.shard.vocab, [&](const ParameterShape& shape) {
      xla_table(at, shape, runs, sink);
    });
  }
  if (stage.head) {
    for_each_head_parameter(
        at.model, at.shard.vocab, !at.model.tied_head || !stage.embedding,
        [&](const ParameterShape& shape) { xla_parameter(at, shape, once, sink); });
  }
}

}  // namespace sextant::workload
