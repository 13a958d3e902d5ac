// How often elements pass through memory between the products, by whose code runs them.
//
// Fused kernels pass once. PyTorch code run line by line passes once for each line, in many
// kernels, and where it broadcasts, slices or widens, index arithmetic takes longer than the bytes.
// The counts are those of kernels that a profiler listed (scripts/measure/step_times.py), in
// elements of the activations' format. docs/models/operators.md has them as a table.
#pragma once

#include <cstdint>

#include "describe/layout/job.h"
#include "workload/operator_calls.h"

namespace sextant::workload {

// Whose kernels run between the products.
enum class Code : std::uint8_t {
  kFused,     // Megatron, nanotron: kernels written for the purpose
  kCompiled,  // torch.compile and XLA
  kTitan,     // torchtitan's modules, line by line
  kHalf,      // Hugging Face transformers line by line, all in 16 bits
  kFull,      // the same in fp32
  kAutocast,  // the same with fp32 weights and residual stream, products in 16 bits
};

Code code_of(const describe::Job& job, const describe::Layout& layout);

// Is the model's code Hugging Face's?
constexpr bool runs_transformers(describe::Framework framework) {
  return framework == describe::Framework::kAccelerate ||
         framework == describe::Framework::kDeepspeed || framework == describe::Framework::kFsdp1 ||
         framework == describe::Framework::kOther;
}

// Are norms and sums over rows PyTorch's own kernels?
constexpr bool runs_kernels_of_pytorch(Code code) {
  return code != Code::kFused && code != Code::kCompiled;
}

// PyTorch's sums over rows give each column to few threads: a row costs as much as so many elements
// found by index, however short it is. Bias gradients of 768 to 3072 columns take 25 to 33 us for
// 32,768 rows beside their bytes; the weight of a norm needs two such sums and products.
inline constexpr double kRowSum = 500.0;
inline constexpr double kNormRowSum = 1750.0;
inline constexpr double kNormRow = 400.0;  // forward: a block a row, started and drained
// Gradients widened on the way to the buffer that is reduced or to the parameters' own format.
inline constexpr double kWidenedGradient = 0.9;

// A compiled loss: one kernel each way on the logits as they are. Its exponentials take 0.26 to
// 0.28 cycles an element beside the bytes forward, 0.14 to 0.2 backward: in indexed passes of 0.44.
inline constexpr StreamCost kCompiledLoss{.read = 1.0,
                                          .written = 0.0,
                                          .backward_read = 1.0,
                                          .backward_written = 1.0,
                                          .indexed = 0.57,
                                          .backward_indexed = 0.4};

// Keys and values copied for every head that reads them, an element of the queries: `held` of it is
// what keys and values hold together. Backward sums the copies up.
constexpr StreamCost repeated_heads(double held) {
  return {.read = held,
          .written = 2.0,
          .backward_read = 2.0,
          .backward_written = held,
          .indexed = 2.0,
          .backward_indexed = 0.9,
          .kernels = 2.0,
          .backward_kernels = 2.0};
}

// A bias added to a product's result by a kernel of its own; its gradient is the product's.
inline constexpr StreamCost kBiasAdd{.read = 1.0,
                                     .written = 1.0,
                                     .backward_read = 0.0,
                                     .backward_written = 0.0,
                                     .backward_kernels = 0.0};

struct StreamTable {
  StreamCost rms_norm;
  StreamCost layer_norm;
  double norm_row = 0.0;      // elements a row, of PyTorch's own kernels
  double norm_row_sum = 0.0;  // the same, backward
  StreamCost rotary;
  StreamCost activation;
  StreamCost spelled_gelu;  // gelu_new as transformers writes it out
  StreamCost gate;          // an element: of the activation's output
  StreamCost residual;
  StreamCost joined;            // input gradients of products that share an input, each addition
  StreamCost input_cast;        // of a product that reads the residual stream; autocast only
  StreamCost scores;            // of attention that writes them
  StreamCost head_copies;       // queries, keys and values made contiguous for it
  double lookup_indexed = 0.0;  // an embedding's gradient: sorted, summed, scattered
  double lookup_kernels = 1.0;
  // The bias of experts' second product, added behind it; kernels for each expert of the rank.
  StreamCost expert_bias = kBiasAdd;
  double each_expert = 0.0;
  double each_expert_backward = 0.0;
};

const StreamTable& stream_table(Code code);

}  // namespace sextant::workload
