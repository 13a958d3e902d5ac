#include "cost/compute/operator_time.h"

#include <algorithm>
#include <cmath>

namespace sextant::cost {
namespace {

using describe::DType;
using workload::Operator;
using workload::OpKind;
using workload::Pass;

// Output tiles that cuBLAS runs on large products. Source: NVIDIA, "Matrix Multiplication
// Background User's Guide", which names 256×128 and 128×256 as the most efficient ones.
constexpr std::int64_t kSmall = 128;
constexpr std::int64_t kLarge = 256;
constexpr std::int64_t kNarrow = 64;  // a side this short takes half of a small tile
// Steps of the loop over k: the depth of CUTLASS' usual tiles of 16-bit operands.
constexpr std::int64_t kStep = 64;

constexpr std::int64_t pieces(std::int64_t size, std::int64_t piece) {
  return (size + piece - 1) / piece;
}

double element_bytes(DType dtype) {
  switch (dtype) {
    case DType::kFp64:
      return 8.0;
    case DType::kFp32:
    case DType::kTf32:
      return 4.0;
    case DType::kFp16:
    case DType::kBf16:
      return 2.0;
    case DType::kFp8:
    case DType::kInt8:
    case DType::kFp6:
      return 1.0;
    case DType::kFp4:
      return 0.5;
  }
  return 2.0;
}

bool is_backward(Pass pass) {
  return pass == Pass::kInputGradient || pass == Pass::kWeightGradient;
}

// Waves of tiles over the compute units; the small number keeps an exact fit exact.
double waves(double tiles, const DeviceModel& device) {
  constexpr double kRounding = 1e-9;
  const double full = tiles * device.per_unit - kRounding;
  const auto below = static_cast<double>(static_cast<std::int64_t>(full));
  return below < full ? below + 1.0 : below;
}

double layout_factor(Pass pass, const ProductModel& model) {
  if (pass == Pass::kInputGradient) {
    return model.input_gradient;
  }
  return pass == Pass::kWeightGradient ? model.weight_gradient : 1.0;
}

// The matrix units' part at burst rate: the best of three tilings, and of a cut along k.
Seconds tiled_time(const Operator& op, const DeviceModel& device) {
  const ProductModel& model = device.product;
  const std::int64_t rows = pieces(op.m, kSmall);
  const std::int64_t columns = pieces(op.n, kSmall);
  const auto batch = static_cast<double>(op.batch);
  const double small = batch * static_cast<double>(rows * columns);
  const double wide = batch * static_cast<double>(rows * pieces(op.n, kLarge));
  const double tall = batch * static_cast<double>(pieces(op.m, kLarge) * columns);
  const auto depth = static_cast<double>(pieces(op.k, kStep) * kStep);
  // One unit's time for one step of k in a small tile.
  constexpr double kFlopsPerStep = 2.0 * static_cast<double>(kSmall * kSmall);
  const Seconds step = Flops(kFlopsPerStep) * device.rate(op.dtype).burst *
                       (device.units * layout_factor(op.pass, model));
  const double small_tile =
      model.small_tile * (op.m <= kNarrow ? 0.5 : 1.0) * (op.n <= kNarrow ? 0.5 : 1.0);
  const double whole =
      std::min(2.0 * waves(std::min(wide, tall), device), waves(small, device) * small_tile);
  const double share = small * device.per_unit;
  const double cut =
      share < 1.0 ? std::max(depth * share, std::min(depth, model.split_depth)) : depth * share;
  return std::min(step * (whole * depth), step * (cut * small_tile) + model.split);
}

Seconds product_issue(const Operator& op, const IssueModel& issue) {
  if (op.dtype == DType::kFp8) {
    return issue.scaled_product;
  }
  const bool transposed = op.batch == 1 && op.pass != Pass::kInputGradient;
  return transposed ? issue.product + issue.view : issue.product;
}

OperatorCost product_time(const Operator& op, const DeviceModel& device) {
  const ProductModel& model = device.product;
  const Seconds tiles = tiled_time(op, device);
  // What is read beside the operands is the output that is added to.
  const Bytes operands(element_bytes(op.dtype) * static_cast<double>(op.batch) *
                       static_cast<double>(op.m + op.n) * static_cast<double>(op.k));
  const Bytes added = std::max(Bytes(), op.read - operands);
  const Seconds output = (op.written + added) * model.memory * model.exposed_output;
  const Seconds busy = tiles + output;
  const double slower = 1.0 + device.rate(op.dtype).slowdown * (busy / (busy + device.power_ramp));
  OperatorCost cost;
  cost.launch = model.launch;
  if (op.kind == OpKind::kGroupedGemm) {
    cost.launch += model.group_launch * static_cast<double>(op.batch);
  }
  cost.compute = tiles * slower;
  cost.output = output * slower;
  cost.memory = (op.read + op.written) * model.memory;
  cost.issue = product_issue(op, device.issue);
  return cost;
}

OperatorCost attention_time(const Operator& op, const DeviceModel& device) {
  const AttentionModel& model = device.attention;
  const bool backward = is_backward(op.pass);
  OperatorCost cost;
  const double rounds = op.kernels;  // of a ring: a kernel each
  cost.launch = backward ? model.backward_launch : model.launch;
  cost.issue = (backward ? device.issue.attention_gradient : device.issue.attention) * rounds;
  cost.memory = (op.read + op.written) * device.stream.memory;
  const auto rows = static_cast<double>(op.batch * op.heads * pieces(op.m, kSmall) * kSmall);
  if (rows <= 0.0 || op.keys <= 0.0) {
    return cost;
  }
  // Kernels pad values to the head size of queries and keys.
  const auto columns = static_cast<double>(std::max(op.k, op.value_dim));
  // Products of a pair: two forward, five backward, of two operations a column each.
  const double products = backward ? 10.0 : 4.0;
  // Exponentials take as long in any format: fewer columns where products are slower.
  const double slower = device.peak[static_cast<std::size_t>(DType::kBf16)] /
                        device.peak[static_cast<std::size_t>(op.dtype)];
  const double spent =
      columns * (backward ? model.backward : model.forward) + model.softmax * slower;
  const Seconds pair = Flops(products * spent) * device.peak[static_cast<std::size_t>(op.dtype)];
  const double overhead = backward ? model.backward_keys : model.forward_keys;
  const double tile = backward ? model.backward_rows : model.forward_rows;
  const double longest = std::min(static_cast<double>(op.n) / rounds, 2.0 * op.keys) + overhead;
  const double mask = backward ? model.masked_backward : model.masked_forward;
  const Seconds pairs = pair * (rows * (op.keys + overhead * workload::ring_sweeps(rounds)) *
                                (op.masked ? mask : 1.0));
  // Of a ring the causal kernel's alone: blocks of rectangles are alike. Together within 10 % of
  // what 34 rings take on an H200 (data/measured/h200_ring_kernels.csv), 3 % in the mean.
  const Seconds tail = pair * (device.units * model.tail * tile * longest);
  // Rounds alternate between two streams: one starts while the other's kernel runs, if that is
  // longer. Source: TransformerEngine 2.x, context_parallel.py (flash_attn_streams).
  const Seconds starts = cost.launch * (rounds - 1.0);
  cost.compute = std::max({pairs + tail, op.flops * device.rate(op.dtype).burst, starts});
  return cost;
}

VectorWork vector_work(const Operator& op) {
  const bool backward = is_backward(op.pass);
  if (op.kernels > 2.0 && op.kind == OpKind::kNorm) {
    return VectorWork::kMove;  // line by line: no kernel does a norm's arithmetic
  }
  switch (op.kind) {
    case OpKind::kNorm:
      return backward ? VectorWork::kNormGradient : VectorWork::kNorm;
    case OpKind::kLoss:
      return backward ? VectorWork::kLossGradient : VectorWork::kLoss;
    case OpKind::kActivation:
    case OpKind::kRotary:
    case OpKind::kRoute:
    case OpKind::kConvolution:
      return VectorWork::kActivation;
    case OpKind::kOptimizer:
      return VectorWork::kUpdate;
    case OpKind::kGemm:
    case OpKind::kGroupedGemm:
    case OpKind::kAttention:
    case OpKind::kScan:
    case OpKind::kResidual:
    case OpKind::kEmbedding:
    case OpKind::kPermute:
    case OpKind::kCast:
    case OpKind::kQuantise:
    case OpKind::kReduceNorm:
    case OpKind::kCopy:
      break;
  }
  return VectorWork::kMove;
}

// Chunked recurrences: products too small for the rates above, between passes through memory.
OperatorCost scan_time(const Operator& op, const DeviceModel& device) {
  OperatorCost cost;
  cost.launch = device.product.launch;
  cost.compute = op.flops * device.peak[static_cast<std::size_t>(op.dtype)] * device.stream.scan;
  cost.memory = (op.read + op.written) * device.stream.memory;
  cost.issue = device.issue.attention;
  return cost;
}

}  // namespace

OperatorCost stream_time(const StreamWork& work, const DeviceModel& device) {
  const StreamModel& model = device.stream;
  OperatorCost cost;
  cost.launch = model.launch * std::min(work.kernels, 1.0) +
                model.next_launch * std::max(work.kernels - 1.0, 0.0);
  cost.issue = device.issue.elementwise * work.kernels;
  cost.memory = work.bytes * model.memory;
  if (work.bytes <= Bytes()) {
    return cost;
  }
  cost.vector = model.element[static_cast<std::size_t>(work.vector)] * work.elements +
                model.indexed * work.indexed;
  if (work.vector == VectorWork::kNorm || work.vector == VectorWork::kNormGradient) {
    cost.issue = work.vector == VectorWork::kNorm ? device.issue.norm : device.issue.norm_gradient;
    if (work.columns > model.kept_columns) {
      cost.vector += model.reread * (work.elements * (1.0 - model.kept_columns / work.columns));
    }
  } else if (work.vector == VectorWork::kUpdate) {
    cost.launch = model.update_launch;
    cost.issue = device.issue.update;
  }
  return cost;
}

OperatorCost operator_time(const Operator& op, const DeviceModel& device) {
  if (is_product(op)) {
    return product_time(op, device);
  }
  if (op.kind == OpKind::kAttention) {
    return attention_time(op, device);
  }
  if (op.kind == OpKind::kScan) {
    return scan_time(op, device);
  }
  const auto columns = static_cast<double>(op.n);
  return stream_time({.bytes = op.read + op.written,
                      .elements = static_cast<double>(op.m) * columns,
                      .columns = columns,
                      .kernels = op.kernels,
                      .indexed = op.indexed,
                      .vector = vector_work(op)},
                     device);
}

OperatorCost host_copy_time(Bytes bytes, bool pinned, const DeviceModel& device) {
  const HostCopyModel& model = device.host_copy;
  OperatorCost cost;
  cost.launch = pinned ? model.launch : model.pageable_launch;
  cost.memory = bytes * (pinned ? model.pinned : model.pageable);
  cost.issue = device.issue.kernel;
  return cost;
}

}  // namespace sextant::cost
