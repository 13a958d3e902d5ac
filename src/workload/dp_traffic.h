// Data parallelism by buckets: gradients in step once a step (or a microbatch), parameters
// gathered after the update.
//
//   Megatron   without sharding an all-reduce; with the distributed optimizer a reduce-scatter of
//              gradients and an all-gather of parameters, in buckets whose ends are padded so that
//              every rank's share is equal and aligned. Only the first stage is cut into buckets.
//   DeepSpeed  stages 1 and 2 all-reduce whole buckets (use_multi_rank_bucket_allreduce, on by
//              default, makes its reduce-scatter one), stage 2 in every microbatch; both gather
//              the updated parameters.
// Source: Megatron-LM 00119989, core/distributed/param_and_grad_buffer.py and
// distributed_data_parallel.py; DeepSpeed 0.16, runtime/zero/stage_1_and_2.py, config.py.
#pragma once

#include <string_view>

#include "workload/stages.h"
#include "workload/traffic_calls.h"
#include "workload/weights.h"

namespace sextant::workload {

// The ranks that hold copies of a parameter, and how its shards are spread over them.
struct CopyGroups {
  GroupKind all;
  GroupKind shard;
  GroupKind replicate;
  std::int64_t copies = 1;
  std::int64_t shards = 1;
  std::int64_t replicas = 1;
  std::string_view gradients;
  std::string_view parameters;
};

inline CopyGroups dense_groups(const Scene& at) {
  return {GroupKind::kDp,       GroupKind::kShard, GroupKind::kReplicate, at.shard.dp * at.shard.cp,
          at.shard.zero_shards, at.shard.replicas, "gradients",           "parameters"};
}

inline CopyGroups expert_groups(const Scene& at) {
  return {GroupKind::kExpertDp,        GroupKind::kExpertShard,
          GroupKind::kExpertReplicate, at.shard.expert_dp,
          at.shard.expert_shards,      at.shard.expert_dp / at.shard.expert_shards,
          "expert gradients",          "expert parameters"};
}

// Equal messages that together carry a stage's gradients or parameters.
struct Buckets {
  std::int64_t count = 1;
  std::int64_t elements = 0;  // of one, padded
  std::int64_t part = 0;      // of that, a shard
};
Buckets megatron_buckets(const Scene& at, const StageView& stage, std::int64_t elements,
                         const CopyGroups& groups);
// In buckets of at most `most` elements, padded to whole shards.
Buckets even_buckets(std::int64_t elements, std::int64_t most, std::int64_t shards);

// What keeping replicas in step asks of a block, of a stage's ends, of a stage.
struct StepSums {
  Weights trained;         // all parameters, or the adapters
  std::int64_t whole = 0;  // elements that every tensor-parallel rank holds whole
  StepSums& operator+=(const StepSums& other) {
    trained += other.trained;
    whole += other.whole;
    return *this;
  }
  friend StepSums operator*(const StepSums& sums, std::int64_t times) {
    return {sums.trained * times, sums.whole * times};
  }
};
StepSums step_sums(const Scene& at, const describe::Block& block);
StepSums end_sums(const Scene& at, const StageView& stage);
StepSums step_sums(const Scene& at, const StageView& stage);

inline Call replica_call(GroupKind group, std::int64_t size, std::string_view what,
                         const Format& format) {
  return {.what = what,
          .group = group,
          .size = size,
          .format = format,
          .count = 0,
          .phase = Phase::kGradient,
          .hides = Hides::kNothing};
}

// Gradients of `buckets`, `times` a step: summed over all copies, or scattered over the shards and
// summed over their replicas.
template <class Sink>
[[gnu::always_inline]] inline void reduce_gradients(const Scene& at, const CopyGroups& groups,
                                                    const Buckets& buckets, std::int64_t times,
                                                    bool scatter, Sink& sink) {
  const bool each_microbatch = times > 1;
  Call call = replica_call(scatter ? groups.shard : groups.all,
                           scatter ? groups.shards : groups.copies, groups.gradients, at.gradient);
  call.count = capped(buckets.count, times);
  call.phase = each_microbatch ? Phase::kBackward : Phase::kGradient;
  call.hides = at.reduce;
  if (!scatter) {
    all_reduce(sink, call, capped(buckets.elements, at.gradient.bytes));
    return;
  }
  const std::int64_t part = capped(buckets.part, at.gradient.bytes);
  reduce_scatter(sink, call, part);
  call.group = groups.replicate;
  call.size = groups.replicas;
  all_reduce(sink, call, part);
}

template <class Sink>
[[gnu::always_inline]] inline void gather_parameters(const Scene& at, const CopyGroups& groups,
                                                     const Buckets& buckets, Sink& sink) {
  Call call = replica_call(groups.shard, groups.shards, groups.parameters, at.parameter);
  call.count = buckets.count;
  call.phase = Phase::kGather;
  call.hides = at.gather;
  if (at.job.framework == describe::Framework::kOther) {
    // Trainers of their own: every rank broadcasts what it updated, one after another. Source:
    // InternEvo, core/solver/optimizer/hybrid_zero_optim.py (broadcast_params).
    call.count = groups.shards;
    broadcast(sink, call, capped(capped(buckets.part, buckets.count), at.parameter.bytes));
    return;
  }
  all_gather(sink, call, capped(buckets.part, at.parameter.bytes));
}

// REQUIRES: zero < 3.
template <class Sink>
void megatron_replicas(const Scene& at, const StageView& stage, std::int64_t elements,
                       const CopyGroups& groups, Sink& sink) {
  if (elements == 0 || groups.copies <= 1) {
    return;
  }
  const Buckets buckets = megatron_buckets(at, stage, elements, groups);
  const describe::Zero zero = at.layout.zero;
  const std::int64_t times = zero == describe::Zero::kGradients ? at.microbatches : 1;
  reduce_gradients(at, groups, buckets, times, zero != describe::Zero::kNone, sink);
  if (zero != describe::Zero::kNone) {
    gather_parameters(at, groups, buckets, sink);
  }
}

// REQUIRES: zero < 3.
template <class Sink>
void deepspeed_replicas(const Scene& at, std::int64_t elements, const CopyGroups& groups,
                        Sink& sink) {
  // Source: DeepSpeed config, zero_optimization.reduce_bucket_size and allgather_bucket_size.
  constexpr std::int64_t kBucket = 500'000'000;
  const describe::Zero zero = at.layout.zero;
  const std::int64_t times = zero == describe::Zero::kGradients ? at.microbatches : 1;
  reduce_gradients(at, groups, even_buckets(elements, kBucket, 1), times, false, sink);
  if (zero != describe::Zero::kNone) {
    gather_parameters(at, groups, even_buckets(elements, kBucket, groups.shards), sink);
  }
}

// Under sequence parallelism the parameters that every tensor-parallel rank holds whole (norms,
// routers, MLA's down-projections) saw a part of the tokens only: their gradients are summed over
// tp once a step, in one flat tensor. Source: Megatron-LM d98e8a64,
// core/distributed/finalize_model_grads.py (_allreduce_non_tensor_model_parallel_grads).
inline bool sums_whole_parameters(const Scene& at) {
  return at.shard.sp && at.weight_gradients && at.tensor == TensorDialect::kMegatron;
}

template <class Sink>
void sequence_parallel_gradients(const Scene& at, std::int64_t whole, Sink& sink) {
  if (!sums_whole_parameters(at)) {
    return;
  }
  all_reduce(sink,
             {.what = "gradients of unsplit parameters",
              .group = GroupKind::kTp,
              .size = at.shard.tp,
              .format = at.gradient,
              .count = 1,
              .phase = Phase::kGradient,
              .hides = Hides::kNothing},
             capped(whole, at.gradient.bytes));
}

// Scalars around the update: the gradients' norm over all ranks, the loss over replicas of the
// last stage (its sum and the number of tokens).
template <class Sink>
void update_messages(const Scene& at, const StageView& stage, Sink& sink) {
  constexpr Format kFloat{"float32", 4};
  Call call{.what = "gradient norm",
            .group = GroupKind::kWorld,
            .size = capped(capped(at.shard.tp, at.shard.cp), capped(at.shard.dp, at.shard.pp)),
            .format = kFloat,
            .count = 1,
            .phase = Phase::kUpdate,
            .hides = Hides::kNothing};
  if (at.trains && stage.index < at.shard.pp) {  // once a rank, whatever stages it holds
    all_reduce(sink, call, kFloat.bytes);
  }
  if (stage.head) {
    call.what = "loss";
    call.group = GroupKind::kDp;
    call.size = at.shard.dp * at.shard.cp;
    all_reduce(sink, call, 2 * kFloat.bytes);
  }
}

}  // namespace sextant::workload
