// DeepSpeed's ZeRO-3: parameters are fetched a few matrices at a time, not layer by layer, so that
// a large group pays its latency for every one of them.
//
//   fetched  in the order of use, as many as make 5·10⁷ elements or more; forward, and again
//            backward. Those below 10⁵ elements stay on every rank
//   reduced  in a buffer of 5·10⁸ elements: a gradient that does not fit sends what is there
// Each parameter is padded to the shards by itself. Buckets are taken to end with their layer. The
// last 5·10⁸ elements of a forward pass are still there when the backward begins
// (stage3_max_reuse_distance): they are counted here as fetched again.
// Source: DeepSpeed edaa7221, runtime/zero/config.py (prefetch_bucket_size,
// param_persistence_threshold, reduce_bucket_size), partitioned_param_coordinator.py
// (fetch_sub_module), stage3.py (reduce_independent_p_g_buckets_and_remove_grads).
#pragma once

#include <algorithm>
#include <cstdint>

#include "workload/fsdp_traffic.h"

namespace sextant::workload {

// Of whole parameters on a tensor-parallel rank, in elements.
inline constexpr std::int64_t kZero3Fetch = 50'000'000;
inline constexpr std::int64_t kZero3Kept = 100'000;  // smaller ones are not freed
inline constexpr std::int64_t kZero3Reduce = 500'000'000;

// `times` messages of one rank's shard of `shard` elements.
struct Zero3Message {
  std::int64_t shard = 0;
  std::int64_t times = 0;
};

// Parameters one after another, in buckets.
class Zero3Buckets {
 public:
  explicit Zero3Buckets(FsdpWhen when) : reduces_(when == FsdpWhen::kReduce) {}

  // Gradients of parameters too small to matter for where a bucket ends: they go with the first.
  void carry(std::int64_t shard) { held_shard_ += shard; }

  // `count` parameters of `elements`, `shard` of them on each rank.
  template <class Visit>
  void add(std::int64_t elements, std::int64_t shard, std::int64_t count, const Visit& visit) {
    while (count > 0) {
      const std::int64_t fit = room(elements);
      if (held_shard_ == 0 && count > fit) {
        visit(Zero3Message{fit * shard, count / fit});
        count %= fit;
        continue;
      }
      const std::int64_t taken = std::min(fit, count);
      held_ += taken * elements;
      held_shard_ += taken * shard;
      count -= taken;
      if (count > 0 || (!reduces_ && held_ >= kZero3Fetch)) {
        flush(visit);
      }
    }
  }

  // What is left at the end of a layer.
  template <class Visit>
  void flush(const Visit& visit) {
    if (held_shard_ > 0) {
      visit(Zero3Message{held_shard_, 1});
    }
    held_ = 0;
    held_shard_ = 0;
  }

 private:
  // How many more of this size the bucket takes; an empty one takes at least one.
  [[nodiscard]] std::int64_t room(std::int64_t elements) const {
    const std::int64_t left = (reduces_ ? kZero3Reduce : kZero3Fetch) - held_;
    return std::max<std::int64_t>(reduces_ ? left / elements : divided_up(left, elements),
                                  held_ == 0 ? 1 : 0);
  }

  bool reduces_;
  std::int64_t held_ = 0;
  std::int64_t held_shard_ = 0;
};

// Parameters of one shape, as ZeRO-3 sees them.
struct Zero3Parameter {
  std::int64_t elements = 0;  // of one, on a tensor-parallel rank
  std::int64_t shard = 0;     // of one, padded
  std::int64_t count = 0;
  bool apart = false;  // experts spread over ep: a group of their own
  [[nodiscard]] bool small() const { return elements < kZero3Kept; }
};

inline Zero3Parameter zero3_parameter(const Scene& at, const ParameterShape& shape) {
  const bool expert = shape.experts > 0;
  const std::int64_t ranks = expert ? at.shard.etp : at.shard.tp;
  Zero3Parameter one;
  one.apart = expert && at.shard.ep > 1;
  one.elements = shape.local_rows(ranks) * shape.local_columns(ranks);
  one.shard = divided_up(one.elements, one.apart ? at.shard.expert_shards : at.shard.zero_shards);
  one.count = shape.count * (expert ? divided_up(shape.experts, at.shard.ep) : 1);
  return one;
}

// The messages of one pass over `count` equal layers whose parameters `parameters` visits, in
// order.
// REQUIRES: fetches_buckets(at).
template <class Parameters, class Sink>
void zero3_pass(const Scene& at, const Parameters& parameters, std::int64_t count, FsdpWhen when,
                Sink& sink) {
  const auto send = [&](const CopyGroups& groups) {
    return [&at, &sink, count, when, groups](const Zero3Message& message) {
      fsdp_unit(at,
                {.parameters = message.shard,
                 .trained = message.shard,
                 .units = capped(message.times, count)},
                groups, when, sink);
    };
  };
  const auto dense = send(dense_groups(at));
  const auto experts = send(expert_groups(at));
  Zero3Buckets of_dense(when);
  Zero3Buckets of_experts(when);
  if (when == FsdpWhen::kReduce) {
    parameters([&](const ParameterShape& shape) {
      const Zero3Parameter one = zero3_parameter(at, shape);
      (one.apart ? of_experts : of_dense).carry(one.small() ? one.shard * one.count : 0);
    });
  }
  parameters([&](const ParameterShape& shape) {
    const Zero3Parameter one = zero3_parameter(at, shape);
    if (one.small()) {
      return;
    }
    if (one.apart) {
      of_experts.add(one.elements, one.shard, one.count, experts);
    } else {
      of_dense.add(one.elements, one.shard, one.count, dense);
    }
  });
  of_dense.flush(dense);
  of_experts.flush(experts);
}

// The same of `count` layers that hold this block. Where only adapters learn, their gradients are
// one message a layer.
template <class Sink>
void zero3_layers(const Scene& at, const describe::Block& block, std::int64_t count, FsdpWhen when,
                  Sink& sink) {
  if (when == FsdpWhen::kReduce && !at.weight_gradients) {
    fsdp_reduce(at, {.trained = adapter_shard(at, block), .units = count}, dense_groups(at), sink);
    return;
  }
  const auto parameters = [&](const auto& visit) { for_each_parameter(at.model, block, visit); };
  zero3_pass(at, parameters, count, when, sink);
}

// All layers of a stage, in all passes.
template <class Sink>
void zero3_all_layers(const Scene& at, const StageView& stage, Sink& sink) {
  const std::size_t passes = at.trains ? kFsdpWhens.size() : 1;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    for (std::size_t block = 0; block < stage.blocks.size(); ++block) {
      if (stage.blocks[block] > 0) {
        zero3_layers(at, at.model.blocks[block], stage.blocks[block], kFsdpWhens[pass], sink);
      }
    }
    if (stage.mtp_layers > 0 && (kFsdpWhens[pass] != FsdpWhen::kReduce || at.weight_gradients)) {
      const auto parameters = [&](const auto& visit) {
        for_each_mtp_parameter(at.model, visit);
        for_each_parameter(at.model, at.model.blocks[static_cast<std::size_t>(at.model.mtp_block)],
                           visit);
      };
      zero3_pass(at, parameters, stage.mtp_layers, kFsdpWhens[pass], sink);
    }
  }
}

// Embedding, final norm and head of a stage, in all passes.
template <class Sink>
void zero3_ends(const Scene& at, const StageView& stage, Sink& sink) {
  const auto parameters = [&](const auto& visit) {
    if (stage.embedding) {
      for_each_embedding_parameter(at.model, at.shard.vocab, visit);
    }
    if (stage.head) {
      const bool own = !at.model.tied_head || !stage.embedding;
      for_each_head_parameter(at.model, at.shard.vocab, own, visit);
    }
  };
  const std::size_t passes = !at.trains ? 1 : at.weight_gradients ? kFsdpWhens.size() : 2;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    zero3_pass(at, parameters, 1, kFsdpWhens[pass], sink);
  }
}

}  // namespace sextant::workload
