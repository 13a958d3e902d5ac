// What the generators of messages read: a job and a layout, with the framework's habits spelled
// out. Worked out once a layout, without allocation.
#pragma once

#include <cstdint>
#include <string_view>

#include "describe/layout/job.h"
#include "workload/collective.h"
#include "workload/recompute.h"
#include "workload/shard.h"
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
};

struct Scene {
  const describe::Job& job;
  const describe::Model& model;
  const describe::Layout& layout;
  const Shard& shard;
  const Routing& routing;
  TensorDialect tensor = TensorDialect::kMegatron;
  DataDialect data = DataDialect::kMegatron;
  bool trains = true;            // false: the forward pass alone
  bool weight_gradients = true;  // false: the base model is frozen (LoRA)
  bool replicated = false;       // data parallelism has something to do
  std::int64_t microbatches = 1;  // that one rank runs of a stage
  Format activation;
  Format gradient;
  Format parameter;  // as data parallelism gathers it
  PartMask selective = 0;  // parts that a selective policy runs again
  Hides tensor_forward = Hides::kNothing;
  Hides tensor_backward = Hides::kNothing;
  Hides gather = Hides::kNothing;
  Hides reduce = Hides::kNothing;
  Hides pipeline = Hides::kNothing;
  Hides expert = Hides::kNothing;
  Hides ring = Hides::kNothing;
  Hides context = Hides::kNothing;  // methods of context parallelism other than the ring
};

Scene scene_of(const describe::Job& job, const describe::Layout& layout, const Shard& shard,
               const Routing& routing);

Format format_of(describe::Storage storage);

// a · b, or the largest number there is.
constexpr std::int64_t capped(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

// Bytes of `width` features of `tokens` tokens.
inline std::int64_t activation_bytes(const Scene& at, std::int64_t tokens, std::int64_t width) {
  return capped(capped(tokens, width), at.activation.bytes);
}

}  // namespace sextant::workload
