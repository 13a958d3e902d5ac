// How well a device's kernels use what its datasheet promises (data/kernels).
//
// A file of a device, data/kernels/<device>.toml, holds every key below and is used as it is. Other
// devices take the keys of the reference device (data/kernels/generations.toml names it) with those
// that their generation states in their place. Rates are shares of the datasheet and vector work is
// in clock cycles, so that a fact carries over to devices of another size; cost/compute scales
// them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "describe/cluster/device.h"
#include "describe/data_store.h"
#include "describe/sourced.h"

namespace sextant::describe {

// Shares of the datasheet peak of one number format.
struct RateFacts {
  Sourced<double> burst;      // a kernel that ends before the power controller reacts
  Sourced<double> sustained;  // at the power limit
};

struct PowerFacts {
  Sourced<double> watts_per_tflops;  // power limit over bf16 peak of the device that was measured
  Sourced<double> exponent;          // sustained rate ∝ (watts per peak)^exponent
  Sourced<Seconds> ramp;             // kernel time at which half of the slowdown is there
  Sourced<double> duty_least;        // share of the slowdown in a step with few products …
  Sourced<double> duty_slope;        // … and how it grows with their share of the time
};

struct ProductFacts {
  Sourced<Seconds> launch;
  Sourced<double> small_tile;         // rate of a 128×128 tile over that of a 128×256 one
  Sourced<double> input_gradient;     // time over that of the forward layout
  Sourced<double> weight_gradient;    // the same
  Sourced<double> exposed_output;     // share of writing the output that no arithmetic hides
  Sourced<double> bandwidth;          // share of the memory bandwidth that operands reach
  Sourced<Seconds> split;             // adding up the parts of a product cut along k
  Sourced<std::int64_t> split_depth;  // the least k worth a part of its own
  Sourced<Seconds> group_launch;      // each expert of a grouped product
};

// One implementation of attention that never writes its scores.
struct AttentionKernelFacts {
  Sourced<double> forward;   // share of the peak, softmax apart
  Sourced<double> backward;  // the same
};

struct AttentionFacts {
  AttentionKernelFacts flash;
  AttentionKernelFacts cudnn;
  Sourced<double> flash1;               // FlashAttention 1, as a share of flash's rates
  Sourced<double> limited;              // of what a step's power limit adds to products
  Sourced<double> softmax;              // of one score, in columns of the head size at peak
  Sourced<double> forward_keys;         // a row of queries costs so many keys more than it sees
  Sourced<double> backward_keys;        // the same
  Sourced<double> tail;                 // of the longest tile that runs when the others are done
  Sourced<std::int64_t> forward_rows;   // queries of a tile
  Sourced<std::int64_t> backward_rows;  // keys of a tile
  Sourced<Seconds> backward_launch;     // several kernels
  // By a mask in memory: time over that of the same square without one.
  Sourced<double> masked_forward;
  Sourced<double> masked_backward;
  // Attention that writes its scores in fp32: passes over them beside its products.
  Sourced<double> math_forward;
  Sourced<double> math_backward;
};

// Kernels that stream through memory. Cycles: of one compute unit for one element, beside the
// traffic.
struct StreamFacts {
  Sourced<Seconds> launch;
  Sourced<Seconds> next_launch;  // of each further kernel of one operator
  Sourced<double> bandwidth;     // share of the datasheet's
  Sourced<double> move;          // cycles
  Sourced<double> indexed;       // cycles of an element that strides, broadcasts or casts find
  Sourced<double> activation;
  Sourced<double> norm;
  Sourced<double> norm_gradient;
  Sourced<double> reread;              // of an element that a norm reads a second time
  Sourced<std::int64_t> kept_columns;  // of a row that a norm need not read a second time
  Sourced<double> random;              // dropout
  Sourced<double> loss;
  Sourced<double> loss_gradient;
  Sourced<double> update;          // optimizer
  Sourced<Seconds> update_launch;  // all tensors of a model
  Sourced<double> scan;            // share of the peak that linear recurrences reach
};

// What the host takes to issue a call, one at a time, from eager PyTorch: the least time between
// two calls however little they do.
struct IssueFacts {
  Sourced<Seconds> kernel;  // the simplest call
  Sourced<Seconds> elementwise;
  Sourced<Seconds> norm;
  Sourced<Seconds> norm_gradient;
  Sourced<Seconds> product;
  Sourced<Seconds> view;            // a transposed operand
  Sourced<Seconds> scaled_product;  // 8-bit, with scales
  Sourced<Seconds> attention;
  Sourced<Seconds> attention_gradient;
  Sourced<Seconds> update;          // fused optimizer step
  Sourced<Seconds> foreach_update;  // the same, one kernel an operation
};

struct HostCopyFacts {
  Sourced<Seconds> launch;
  Sourced<double> pinned;    // share of the link
  Sourced<double> pageable;  // the same
  Sourced<Seconds> pageable_launch;
};

struct KernelFacts {
  std::string measured_on;  // the device whose file this is, or the reference
  bool scaled = false;      // by the rules of generations.toml
  std::array<std::optional<RateFacts>, kDTypeWords.size()> rates;
  PowerFacts power;
  ProductFacts product;
  AttentionFacts attention;
  StreamFacts stream;
  IssueFacts issue;
  HostCopyFacts host_copy;
};

Result<KernelFacts> kernel_facts(const DataStore& data, const Device& device);

// The facts of one device's file, already read; `where` goes into errors. Whose they are
// (measured_on) is left empty.
Result<KernelFacts> parse_kernel_facts(std::string_view text, std::string_view where);

}  // namespace sextant::describe
