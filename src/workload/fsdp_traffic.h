// Fully sharded data parallelism: parameters gathered unit by unit, gradients scattered.
//
// A unit is a layer (experts apart where they are spread over ep), and what is left is the root:
// embedding, final norm and head. Layers are gathered before forward and, where they were freed,
// before backward; the root is not freed between the two. Activation checkpointing adds no gather.
//
//   FSDP2 (torchtitan)  every parameter is padded in dimension 0 to a multiple of the shards, after
//              tensor parallelism took its part of that dimension
//   flat (FSDP1, Megatron-FSDP)  a unit is one flat tensor, padded as a whole
// DeepSpeed's ZeRO-3 knows no units: zero3_traffic.h.
// Source: PyTorch 2.11, torch/distributed/fsdp/_fully_shard (_fsdp_param.py, _fsdp_collectives.py,
// _fsdp_param_group.py) and the calls it was seen to make (docs/models/traffic.md).
#pragma once

#include <array>
#include <string_view>

#include "workload/dp_traffic.h"
#include "workload/parameter_shapes.h"
#include "workload/tp_traffic.h"

namespace sextant::workload {

struct FsdpUnit {
  std::int64_t parameters = 0;  // elements of one rank's shard, padded
  std::int64_t trained = 0;     // those whose gradient is reduced
  std::int64_t units = 0;       // of this size in the stage
  bool root = false;
};

// Elements of one rank's shard, dense and expert parameters apart. `head` and `embedding` say which
// ends the stage holds.
struct UnitShards {
  std::int64_t dense = 0;
  std::int64_t experts = 0;
};
UnitShards block_shards(const Scene& at, const describe::Block& block);
std::int64_t root_shard(const Scene& at, const StageView& stage);
UnitShards mtp_shards(const Scene& at);
// The same for adapters of a block (LoRA).
std::int64_t adapter_shard(const Scene& at, const describe::Block& block);

// `count` layers of one kind.
struct LayerUnits {
  UnitShards shards;
  std::int64_t adapters = 0;
  std::int64_t count = 0;
};
inline LayerUnits layer_units(const Scene& at, const describe::Block& block, std::int64_t count) {
  return {block_shards(at, block), adapter_shard(at, block), count};
}

// How often in a step gathered parameters are asked for, and gradients reduced. torchtitan does
// both in every microbatch; under a pipeline gradients are reduced after the last, and parameters
// that stay are gathered once. accelerate waits for the last microbatch.
// Source: PyTorch 2.11, torch/distributed/pipelining/stage.py (backward_maybe_with_nosync).
struct FsdpTimes {
  std::int64_t forward = 1;
  std::int64_t backward = 0;
  std::int64_t reduce = 1;
};
FsdpTimes fsdp_times(const Scene& at);

// When in a microbatch.
enum class FsdpWhen : std::uint8_t { kForward, kBackward, kReduce };
inline constexpr std::array kFsdpWhens{FsdpWhen::kForward, FsdpWhen::kBackward, FsdpWhen::kReduce};

template <class Sink>
void fsdp_gather(const Scene& at, const FsdpUnit& unit, const CopyGroups& groups, FsdpWhen when,
                 Sink& sink) {
  const FsdpTimes times = fsdp_times(at);
  const bool forward = when == FsdpWhen::kForward;
  Call gather = replica_call(groups.shard, groups.shards, groups.parameters, at.parameter);
  gather.hides = at.gather;
  gather.phase = forward ? Phase::kForward : Phase::kBackward;
  gather.count = capped(unit.units, forward ? times.forward : times.backward);
  if (forward || !unit.root) {
    all_gather(sink, gather, capped(unit.parameters, at.parameter.bytes));
  }
}

template <class Sink>
void fsdp_reduce(const Scene& at, const FsdpUnit& unit, const CopyGroups& groups, Sink& sink) {
  const FsdpTimes times = fsdp_times(at);
  Call reduce = replica_call(groups.shard, groups.shards, groups.gradients, at.gradient);
  reduce.hides = at.reduce;
  reduce.phase = times.reduce > 1 || at.shard.pp == 1 ? Phase::kBackward : Phase::kGradient;
  reduce.count = capped(unit.units, times.reduce);
  const std::int64_t kept = capped(unit.trained, at.gradient.bytes);
  reduce_scatter(sink, reduce, kept);
  reduce.group = groups.replicate;
  reduce.size = groups.replicas;
  all_reduce(sink, reduce, kept);
}

template <class Sink>
void fsdp_unit(const Scene& at, const FsdpUnit& unit, const CopyGroups& groups, FsdpWhen when,
               Sink& sink) {
  if (when == FsdpWhen::kReduce) {
    fsdp_reduce(at, unit, groups, sink);
  } else {
    fsdp_gather(at, unit, groups, when, sink);
  }
}

// Layers of one kind: dense parameters and, apart, experts.
template <class Sink>
void fsdp_layers(const Scene& at, const LayerUnits& layers, FsdpWhen when, Sink& sink) {
  const bool frozen = !at.weight_gradients;
  fsdp_unit(at,
            {.parameters = layers.shards.dense,
             .trained = frozen ? layers.adapters : layers.shards.dense,
             .units = layers.count},
            dense_groups(at), when, sink);
  fsdp_unit(at,
            {.parameters = layers.shards.experts,
             .trained = frozen ? 0 : layers.shards.experts,
             .units = layers.count},
            expert_groups(at), when, sink);
}

template <class Sink>
void fsdp_root(const Scene& at, const StageView& stage, FsdpWhen when, Sink& sink) {
  const std::int64_t root = root_shard(at, stage);
  fsdp_unit(
      at, {.parameters = root, .trained = at.weight_gradients ? root : 0, .units = 1, .root = true},
      dense_groups(at), when, sink);
}

// FSDP2 asks every gradient in the placement of its parameter: a norm's, a partial sum over
// sequence-parallel ranks, is all-reduced over tp first, one by one.
// Source: PyTorch 2.11, _fsdp_param.py (_get_grad_inner_tensor).
template <class Sink>
void norm_gradients(const Scene& at, const ParameterShape& shape, std::int64_t layers, Sink& sink) {
  if (!shape.norm) {
    return;
  }
  Call call =
      tensor_call(at, "gradients of norms",
                  capped(capped(layers, shape.count), fsdp_times(at).reduce), Phase::kBackward);
  call.hides = Hides::kNothing;
  all_reduce(sink, call, capped(shape.rows, at.activation.bytes));
}

template <class Sink>
void all_norm_gradients(const Scene& at, const StageView& stage, Sink& sink) {
  const bool asked = at.shard.sp && at.weight_gradients && at.data == DataDialect::kFsdp2 &&
                     at.shard.dp * at.shard.cp > 1;
  if (!asked) {
    return;
  }
  const auto each = [&](std::int64_t layers) {
    return [&at, &sink, layers](const ParameterShape& shape) {
      norm_gradients(at, shape, layers, sink);
    };
  };
  for (std::size_t block = 0; block < stage.blocks.size(); ++block) {
    if (stage.blocks[block] > 0) {
      for_each_parameter(at.model, at.model.blocks[block], each(stage.blocks[block]));
    }
  }
  if (stage.embedding && at.model.embedding_norm) {
    internal::visit_norm(at.model, at.model.hidden, 1, each(1));
  }
  if (stage.head && at.model.final_norm) {
    internal::visit_norm(at.model, at.model.hidden, 1, each(1));
  }
}

// Replicas that are not sharded: PyTorch's DistributedDataParallel, in buckets of 25 MiB.
// Source: torch.nn.parallel.DistributedDataParallel, bucket_cap_mb.
template <class Sink>
void ddp_replicas(const Scene& at, const Weights& weights, Sink& sink) {
  constexpr std::int64_t kBucketBytes = std::int64_t{25} * 1024 * 1024;
  const std::int64_t most = kBucketBytes / at.gradient.bytes;
  const std::int64_t times = fsdp_times(at).reduce;
  reduce_gradients(at, dense_groups(at), even_buckets(weights.dense, most, 1), times, false, sink);
  reduce_gradients(at, expert_groups(at), even_buckets(weights.experts, most, 1), times, false,
                   sink);
}

template <class Sink>
void fsdp_all_layers(const Scene& at, const StageView& stage, Sink& sink) {
  const std::size_t passes = at.trains ? kFsdpWhens.size() : 1;
  const auto each_pass = [&](const LayerUnits& layers) {
    for (std::size_t pass = 0; pass < passes; ++pass) {
      fsdp_layers(at, layers, kFsdpWhens[pass], sink);
    }
  };
  for (std::size_t block = 0; block < stage.blocks.size(); ++block) {
    if (stage.blocks[block] > 0) {
      each_pass(layer_units(at, at.model.blocks[block], stage.blocks[block]));
    }
  }
  if (stage.mtp_layers > 0) {
    each_pass({.shards = mtp_shards(at), .adapters = 0, .count = stage.mtp_layers});
  }
  all_norm_gradients(at, stage, sink);
}

// The root unit of a stage: what it holds of embedding, final norm and head.
template <class Sink>
void fsdp_ends(const Scene& at, const StageView& stage, Sink& sink) {
  const std::size_t passes = at.trains ? kFsdpWhens.size() : 1;
  for (std::size_t pass = 0; (stage.embedding || stage.head) && pass < passes; ++pass) {
    fsdp_root(at, stage, kFsdpWhens[pass], sink);
  }
}

}  // namespace sextant::workload
