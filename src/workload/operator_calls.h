// What a walk over a block (block_walk.h) announces to its sink: one call for each product,
// attention, recurrence or pass through memory of the forward, with its sizes on one rank.
//
// A sink has these members and makes of them what it needs (lists, sums, times):
//   void gemm(const Gemm&);                  void attention(const AttentionCall&);
//   void grouped_gemm(const GroupedGemm&);   void scan(const ScanCall&);
//   void stream(const Stream&);              void lora(const LoraCall&);
// operator_passes.h turns each into the operators of forward and backward.
#pragma once

#include <cstdint>

#include "describe/layout/layout.h"
#include "workload/operator.h"

namespace sextant::workload {

// Which numbers a product works on.
enum class ProductFormat : std::uint8_t {
  kJob,         // the job's precision: 8- and 4-bit formats where asked for
  kActivation,  // that of activations: what frameworks leave out of 8-bit training
  kFp32,
};

// An m×k input times a k×n weight.
struct Gemm {
  Part part = Part::kQkv;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  ProductFormat format = ProductFormat::kJob;
  bool bias = false;
  bool input_gradient = true;  // false: its input is detached from the loss
  double model_share = 1.0;    // of the product that the model asks for (1: no padding)
};

// `experts` weights of k×n, m rows each (mean, so it may be a fraction).
struct GroupedGemm {
  Part part = Part::kExpertFc1;
  std::int64_t experts = 0;
  double m = 0.0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool bias = false;
};

struct AttentionCall {
  Part part = Part::kCoreAttention;
  std::int64_t batch = 1;
  std::int64_t m = 0;  // queries
  std::int64_t n = 0;  // keys
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t k = 0;  // head size of queries and keys
  std::int64_t value_dim = 0;
  double keys = 0.0;        // that a query sees, on average
  double model_keys = 0.0;  // the same by the convention of model FLOPs
  describe::AttentionKernel kernel = describe::AttentionKernel::kFlash;
  bool masked = false;      // by a matrix in memory rather than by position
  std::int64_t rounds = 1;  // of a ring of ranks: kernels, each on the keys of one of them
};

// A chunked linear recurrence. The last six are for one token.
struct ScanCall {
  Part part = Part::kScan;
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t state = 0;
  Flops flops{};
  Flops backward_flops{};
  Bytes read{};
  Bytes written{};
  Bytes backward_read{};
  Bytes backward_written{};
};

// How often an element passes through memory, in how many kernels, and in how many of the passes it
// is found by index arithmetic (strides, broadcasts) or widened, which takes longer than its bytes.
struct StreamCost {
  double read = 1.0;
  double written = 1.0;
  double backward_read = 2.0;
  double backward_written = 1.0;
  double indexed = 0.0;
  double backward_indexed = 0.0;
  double kernels = 1.0;
  double backward_kernels = 1.0;
};

// `rows` rows of `width` elements through memory.
struct Stream {
  Part part = Part::kInputNorm;
  OpKind kind = OpKind::kNorm;
  double rows = 0.0;
  std::int64_t width = 0;
  StreamCost cost;
  double element_bytes = 0.0;  // 0: an activation's
  Pass gradient = Pass::kInputGradient;
};

// A rank-r adapter beside the product of `host`: m×in times in×r times r×out, added to its output.
struct LoraCall {
  Part host = Part::kQkv;
  std::int64_t m = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t rank = 0;
};

}  // namespace sextant::workload
