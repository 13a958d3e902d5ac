// What the operators of a step depend on besides sizes: read from a job and a layout once, before
// blocks are walked.
#pragma once

#include <cstdint>

#include "describe/layout/job.h"
#include "workload/operator_calls.h"
#include "workload/shard.h"
#include "workload/stream_tables.h"

namespace sextant::workload {

// How the forward is built.
struct WalkOptions {
  describe::AttentionKernel attention = describe::AttentionKernel::kFlash;
  describe::CpMethod cp_method = describe::CpMethod::kP2pRing;
  std::int64_t cp_inner = 0;
  describe::Dispatcher dispatcher = describe::Dispatcher::kAllToAll;
  // One product for queries, keys and values, one for gate and up (Megatron); apart elsewhere.
  bool fused_projections = true;
  const StreamTable* streams = nullptr;  // never null
  bool spelled_gelu = false;
  bool loss_compiled = false;
  bool masked_attention = false;    // causal by a mask in memory
  bool repeats_kv = false;          // keys and values are copied for every head that reads them
  double embedding_gradient = 0.0;  // bytes added to a gradient buffer, an element
  std::int64_t lora_rank = 0;       // 0: no adapters
  std::uint32_t lora_modules = 0;   // a bit for each describe::LoraModule
  [[nodiscard]] bool adapts(describe::LoraModule module) const {
    return lora_rank > 0 && ((lora_modules >> static_cast<unsigned>(module)) & 1U) != 0;
  }
  bool operator==(const WalkOptions&) const = default;
};

// Bytes of the operands of a product, and what it computes in.
struct ProductBytes {
  describe::DType dtype = describe::DType::kBf16;
  double input = 2.0;
  double weight = 2.0;
  double gradient = 2.0;  // of its output, as the backward products read it
  double output = 2.0;
  bool operator==(const ProductBytes&) const = default;
};

// How a forward becomes passes.
struct PassOptions {
  bool backward = true;
  bool weight_gradients = true;  // false: the model's own weights are frozen (LoRA)
  bool quantises = false;        // products read 8- or 4-bit copies of their operands
  double activation = 2.0;       // bytes of an element
  describe::DType activation_dtype = describe::DType::kBf16;
  double accumulate_read = 4.0;     // bytes of a gradient element that a weight gradient reads …
  double accumulate_written = 4.0;  // … and writes
  double row_sum = 0.0;             // elements that a sum over rows costs a row beside its bytes
  const StreamTable* streams = nullptr;  // never null
  ProductBytes job;
  bool operator==(const PassOptions&) const = default;
};

WalkOptions walk_options(const describe::Job& job, const describe::Layout& layout);
PassOptions pass_options(const describe::Job& job, const describe::Layout& layout,
                         const Shard& shard);

// Does the framework add weight gradients to its own buffer inside the product (Megatron's
// gradient_accumulation_fusion) rather than leave that to PyTorch?
constexpr bool accumulates_in_product(describe::Framework framework) {
  return framework == describe::Framework::kMegatronCore ||
         framework == describe::Framework::kMegatronDeepspeed;
}

// Bytes of an operand with its scales.
double operand_bytes(describe::Precision precision);

}  // namespace sextant::workload
