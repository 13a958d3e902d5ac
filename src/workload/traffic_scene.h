// What the generators of messages read: a job and a layout, with the framework's habits spelled
// out. Worked out once a layout, without allocation.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "describe/layout/job.h"
#include "workload/collective.h"
#include "workload/recompute.h"
#include "workload/shard.h"
#include "workload/stages.h"
#include "workload/traffic.h"

namespace sextant::workload {

// Who splits a layer over tensor-parallel ranks, and so which messages that takes.
enum class TensorDialect : std::uint8_t { kMegatron, kDTensor, kXla };
// Who keeps replicas in step.
enum class DataDialect : std::uint8_t { kMegatron, kDeepspeed, kFlatFsdp, kFsdp2, kXla };

// How numbers travel.
struct Format {
  std::string_view name;
  std::int64_t bytes = 2;
  bool operator==(const Format&) const = default;
};

struct Scene {
  const describe::Job& job;
  const describe::Model& model;
  const describe::Layout& layout;
  const Shard& shard;
  const Routing& routing;
  TensorDialect tensor = TensorDialect::kMegatron;
  DataDialect data = DataDialect::kMegatron;
  bool trains = true;             // false: the forward pass alone
  bool weight_gradients = true;   // false: the base model is frozen (LoRA)
  bool replicated = false;        // data parallelism has something to do
  std::int64_t microbatches = 1;  // that one rank runs of a stage
  Format activation{};
  Format gradient{};
  Format parameter{};             // as data parallelism gathers it
  std::int64_t all_bytes = 0;     // the hidden state of a rank's tokens
  std::int64_t region_bytes = 0;  // the same between tensor-parallel regions
  PartMask selective = 0;         // parts that a selective policy runs again
  Hides tensor_forward = Hides::kNothing;
  Hides tensor_backward = Hides::kNothing;
  Hides gather = Hides::kNothing;
  Hides reduce = Hides::kNothing;
  Hides pipeline = Hides::kNothing;
  Hides expert = Hides::kNothing;
  Hides ring = Hides::kNothing;
  Hides context = Hides::kNothing;  // methods of context parallelism other than the ring
};

// A stage, or (for totals of a whole pipeline) all of them as one that holds every layer.
struct StageView {
  std::int64_t index = 0;
  std::span<const std::int64_t> blocks;  // layers that hold each of Model::blocks
  bool embedding = false;
  bool head = false;
  std::int64_t mtp_layers = 0;
  const Stage* exact = nullptr;  // nothing: all stages as one
};

inline StageView view_of(const Stage& stage) {
  return {.index = stage.index,
          .blocks = stage.blocks,
          .embedding = stage.embedding,
          .head = stage.head,
          .mtp_layers = stage.mtp_layers,
          .exact = &stage};
}

// Of the layers that hold this block, those that run again. All stages as one can be asked only
// where it does not matter which layers come first: see counts_layers().
RecomputedLayers repeated_layers(const Scene& at, const StageView& stage, std::size_t block);
// Does the policy count the layers of a stage (block method, every second layer)?
bool counts_layers(const describe::RecomputePolicy& policy);

// Does DeepSpeed's ZeRO-3 fetch and reduce parameters in buckets (zero3_traffic.h)?
inline bool fetches_buckets(const Scene& at) {
  return at.replicated && at.data == DataDialect::kDeepspeed &&
         at.layout.zero == describe::Zero::kParameters;
}

Scene scene_of(const describe::Job& job, const describe::Layout& layout, const Shard& shard,
               const Routing& routing);

Format format_of(describe::Storage storage);

// a · b and a + b, or the largest number there is (which only a nonsensical job reaches).
// REQUIRES: a, b ≥ 0.
constexpr std::int64_t capped(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}
constexpr std::int64_t capped_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

// Bytes of `width` features of `tokens` tokens.
inline std::int64_t activation_bytes(const Scene& at, std::int64_t tokens, std::int64_t width) {
  return capped(capped(tokens, width), at.activation.bytes);
}

}  // namespace sextant::workload
