#include "app/kernel_rows.h"

#include <array>
#include <utility>

#include "base/text.h"

namespace sextant::app {
namespace {

using cost::DeviceModel;
using cost::OperatorCost;
using describe::DType;
using measured::KernelEfficiencySubject;
using measured::KernelSubject;
using workload::Operator;
using workload::OpKind;
using workload::Pass;

std::optional<DType> dtype_of(std::string_view text) {
  if (text == "bfloat16") {
    return DType::kBf16;
  }
  if (text == "float32") {
    return DType::kFp32;
  }
  const auto dtype = describe::parse_word<DType>(describe::kDTypeWords, text, "dtype", "");
  return dtype ? std::optional(*dtype) : std::nullopt;
}

double bytes_of(DType dtype) {
  if (dtype == DType::kFp32 || dtype == DType::kTf32) {
    return 4.0;
  }
  return dtype == DType::kFp8 ? 1.0 : 2.0;
}

// A product in the shape of one pass: `tokens` rows, weight of `out`×`in`, `copies` of it all.
struct Product {
  OpKind kind = OpKind::kGemm;
  DType dtype = DType::kBf16;
  std::int64_t copies = 1;
  std::int64_t tokens = 0;
  std::int64_t out = 0;
  std::int64_t in = 0;
};

Operator product_of(const Product& product, Pass pass) {
  Operator op{.kind = product.kind, .pass = pass, .dtype = product.dtype, .batch = product.copies};
  op.m = product.tokens;
  op.n = product.out;
  op.k = product.in;
  if (pass == Pass::kInputGradient) {
    std::swap(op.n, op.k);
  } else if (pass == Pass::kWeightGradient) {
    op.m = product.out;
    op.n = product.in;
    op.k = product.tokens;
  }
  const double batch = static_cast<double>(op.batch);
  const double m = static_cast<double>(op.m);
  const double n = static_cast<double>(op.n);
  const double k = static_cast<double>(op.k);
  const double element = bytes_of(op.dtype);
  constexpr double kBf16 = 2.0;  // what 8-bit products write
  op.flops = Flops(2.0 * batch * m * n * k);
  op.read = Bytes(batch * element * (m + n) * k);
  op.written = Bytes(batch * std::max(element, kBf16) * m * n);
  return op;
}

std::optional<Pass> pass_of(std::string_view word) {
  if (word == "fprop" || word == "fwd" || word == "TN") {
    return Pass::kForward;
  }
  if (word == "dgrad" || word == "bwd_grad_act" || word == "NN") {
    return Pass::kInputGradient;
  }
  if (word == "wgrad" || word == "bwd_grad_w" || word == "NT") {
    return Pass::kWeightGradient;
  }
  return std::nullopt;
}

struct AttentionShape {
  std::int64_t batch = 1;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t seq = 0;
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
};

// Causal, bf16: what the tables measure.
Operator attention_of(const AttentionShape& shape, Pass pass) {
  constexpr double kElement = 2.0;
  Operator op{.kind = OpKind::kAttention, .pass = pass, .batch = shape.batch};
  op.m = shape.seq;
  op.n = shape.seq;
  op.k = shape.key_dim;
  op.heads = shape.heads;
  op.kv_heads = shape.kv_heads;
  op.value_dim = shape.value_dim;
  op.keys = static_cast<double>(shape.seq) / 2.0;
  const double rows = static_cast<double>(shape.batch * shape.seq);
  const double queries = rows * static_cast<double>(shape.heads);
  const double stored = rows * static_cast<double>(shape.kv_heads);
  const auto k = static_cast<double>(shape.key_dim);
  const auto v = static_cast<double>(shape.value_dim);
  const double inputs = kElement * (queries * k + stored * (k + v));
  const double output = kElement * queries * v;
  const bool backward = pass == Pass::kInputGradient;
  op.flops = Flops(2.0 * queries * op.keys * (backward ? 3.0 * k + 2.0 * v : k + v));
  op.read = Bytes(backward ? inputs + 2.0 * output : inputs);
  op.written = Bytes(backward ? inputs : output);
  return op;
}

// PyTorch's math path: products in fp32 over the whole square, scores through memory between them.
void add_math_attention(const AttentionShape& shape, bool backward, const DeviceModel& device,
                        Call& call) {
  constexpr double kFp32 = 4.0;
  const double passes = backward ? device.attention.math_backward : device.attention.math_forward;
  const double rows = static_cast<double>(shape.batch * shape.heads * shape.seq);
  const double scores = rows * static_cast<double>(shape.seq);
  const Product product{.dtype = DType::kFp32,
                        .copies = shape.batch * shape.heads,
                        .tokens = shape.seq,
                        .out = shape.seq,
                        .in = shape.key_dim};
  for (int times = backward ? 2 : 1; times > 0; --times) {
    call.add(product_of(product, Pass::kForward));        // onto the scores
    call.add(product_of(product, Pass::kInputGradient));  // and from them
  }
  call.add(cost::stream_time({.bytes = Bytes(kFp32 * scores * passes)}, device));
  // As long as about twenty calls of a product, twice that through autograd, however small they
  // are (the table's rows of 12 heads and less).
  call.set_issue((backward ? 40.0 : 20.0) * device.issue.product);
}

// A size of the row; the table's reader gives none where the cell is empty.
std::int64_t size_of(const KernelSubject& subject, std::size_t index) {
  return subject.sizes[index].value_or(0);
}

bool add_product(const KernelSubject& subject, DType dtype, Call& call) {
  const auto pass = pass_of(subject.variant);
  if (!pass) {
    return false;
  }
  if (subject.kind == "bmm") {
    call.add(product_of({.dtype = dtype,
                         .copies = size_of(subject, 0),
                         .tokens = size_of(subject, 1),
                         .out = size_of(subject, 2),
                         .in = size_of(subject, 3)},
                        *pass));
    return true;
  }
  call.add(product_of({.dtype = dtype,
                       .tokens = size_of(subject, 0),
                       .out = size_of(subject, 1),
                       .in = size_of(subject, 2)},
                      *pass));
  return true;
}

bool add_attention(const KernelSubject& subject, const DeviceModel& device, Call& call) {
  const AttentionShape shape{.batch = size_of(subject, 0),
                             .heads = size_of(subject, 1),
                             .kv_heads = size_of(subject, 2),
                             .seq = size_of(subject, 3),
                             .key_dim = size_of(subject, 4),
                             .value_dim = size_of(subject, 4)};
  const bool backward = subject.variant.ends_with("-bwd");
  if (!backward && !subject.variant.ends_with("-fwd")) {
    return false;
  }
  if (subject.variant.starts_with("math")) {
    add_math_attention(shape, backward, device, call);
  } else {
    call.add(attention_of(shape, backward ? Pass::kInputGradient : Pass::kForward));
  }
  return true;
}

// Elements of 16 bits that a kernel reads and writes, and what it does to them.
struct StreamKernel {
  std::string_view variant;
  double read = 1.0;
  double written = 1.0;
  cost::VectorWork vector = cost::VectorWork::kMove;
  double kernels = 1.0;
};
// silu_mul is two kernels (silu, then a product); dropout writes a mask of a byte an element.
constexpr std::array<StreamKernel, 8> kStreamKernels{
    {{"copy", 1.0, 1.0},
     {"add", 2.0, 1.0},
     {"silu_mul", 3.0, 2.0, cost::VectorWork::kActivation, 2.0},
     {"gelu", 1.0, 1.0, cost::VectorWork::kActivation},
     {"layer_norm", 1.0, 1.0, cost::VectorWork::kNorm},
     {"rms_norm", 1.0, 1.0, cost::VectorWork::kNorm},
     {"layer_norm_bwd", 2.0, 1.0, cost::VectorWork::kNormGradient},
     {"dropout", 1.0, 1.5, cost::VectorWork::kRandom}}};

bool add_stream(const KernelSubject& subject, DType dtype, const DeviceModel& device, Call& call) {
  const auto columns = static_cast<double>(size_of(subject, 1));
  const double elements = static_cast<double>(size_of(subject, 0)) * columns;
  for (const StreamKernel& kernel : kStreamKernels) {
    if (kernel.variant == subject.variant) {
      OperatorCost cost = cost::stream_time(
          {.bytes = Bytes(elements * bytes_of(dtype) * (kernel.read + kernel.written)),
           .elements = elements,
           .columns = columns,
           .vector = kernel.vector},
          device);
      const bool random = kernel.vector == cost::VectorWork::kRandom;  // and a mask is allocated
      cost.launch *= kernel.kernels;
      cost.issue *= random ? 2.0 : kernel.kernels;
      call.add(cost);
      return true;
    }
  }
  return false;
}

// Logits of 16 bits cast to fp32, and the loss on them, as the workload counts them.
bool add_loss(const KernelSubject& subject, Call& call) {
  const bool backward = subject.variant == "ce_bwd_fp32cast";
  if (!backward && subject.variant != "ce_fwd_fp32cast") {
    return false;
  }
  constexpr double kFp32 = 4.0;
  constexpr double kBf16 = 2.0;
  Operator op{.kind = OpKind::kCast,
              .pass = backward ? Pass::kInputGradient : Pass::kForward,
              .m = size_of(subject, 0),
              .n = size_of(subject, 1)};
  const double elements = static_cast<double>(op.m) * static_cast<double>(op.n);
  op.read = Bytes(elements * (backward ? kFp32 : kBf16));
  op.written = Bytes(elements * (backward ? kBf16 : kFp32));
  call.add(op);
  op.kind = OpKind::kLoss;
  op.read = Bytes(elements * kFp32 * (backward ? 1.0 : 3.0));
  op.written = Bytes(elements * kFp32);
  call.add(op);
  return true;
}

// AdamW on parameters, gradients and moments of one format. Fused: reads four, writes three.
// Foreach: eight kernels read twelve and write eight, with the arithmetic of about two fused ones.
// Source: torch/optim/adamw.py, _multi_tensor_adamw.
bool add_optimizer(const KernelSubject& subject, DType dtype, const DeviceModel& device,
                   Call& call) {
  const bool fused = subject.variant == "adamw_fused";
  if (!fused && subject.variant != "adamw_foreach") {
    return false;
  }
  const auto elements = static_cast<double>(size_of(subject, 0));
  OperatorCost cost =
      cost::stream_time({.bytes = Bytes(elements * bytes_of(dtype) * (fused ? 7.0 : 20.0)),
                         .elements = elements * (fused ? 1.0 : 2.0),
                         .vector = cost::VectorWork::kUpdate},
                        device);
  if (!fused) {
    cost.launch *= device.issue.foreach_update / device.issue.update;
    cost.issue = device.issue.foreach_update;
  }
  call.add(cost);
  return true;
}

bool add_pcie(const KernelSubject& subject, const DeviceModel& device, Call& call) {
  const bool pinned = subject.variant.ends_with("_pinned");
  if (!pinned && !subject.variant.ends_with("_pageable")) {
    return false;
  }
  call.add(cost::host_copy_time(static_cast<double>(size_of(subject, 0)) * 1_MiB, pinned, device));
  return true;
}

// The shape of an efficiency row by name.
class Shape {
 public:
  explicit Shape(const KernelEfficiencySubject& subject) : subject_(subject) {}
  [[nodiscard]] std::string_view text(std::string_view name) const {
    for (const auto& [key, value] : subject_.shape) {
      if (key == name) {
        return value;
      }
    }
    return {};
  }
  [[nodiscard]] std::int64_t count(std::string_view name) const {
    const auto value = to_double(text(name));
    constexpr double kLargest = 1e9;
    return value && *value > 0.0 && *value < kLargest ? static_cast<std::int64_t>(*value) : 0;
  }

 private:
  const KernelEfficiencySubject& subject_;
};

// A weight gradient that is added to what the buffer holds, in the buffer's format.
void accumulate(const Shape& shape, std::string_view format, Operator& op) {
  constexpr double kFp32 = 4.0;
  constexpr double kBf16 = 2.0;
  const double outputs = op.written.base() / kBf16;
  op.written = Bytes(outputs * (shape.text(format) == "fp32" ? kFp32 : kBf16));
  if (shape.text("accumulate") == "True") {
    op.read += op.written;
  }
}

// The table prints m, n and k of the product itself: m rows, n columns, depth k.
std::optional<Operator> matmul_of(const Shape& shape) {
  const auto pass = pass_of(shape.text("layout"));
  if (!pass) {
    return std::nullopt;
  }
  const std::int64_t m = shape.count("m");
  const std::int64_t n = shape.count("n");
  const std::int64_t k = shape.count("k");
  Operator op = product_of(
      {.copies = std::max<std::int64_t>(shape.count("b"), 1), .tokens = m, .out = n, .in = k},
      Pass::kForward);
  op.pass = *pass;
  accumulate(shape, "out_dtype", op);
  return op;
}

std::optional<Operator> group_of(const Shape& shape) {
  const auto pass = pass_of(shape.text("stage"));
  if (!pass) {
    return std::nullopt;
  }
  Operator op = product_of({.kind = OpKind::kGroupedGemm,
                            .copies = shape.count("ng"),
                            .tokens = shape.count("M"),
                            .out = shape.count("N"),
                            .in = shape.count("K")},
                           *pass);
  if (*pass == Pass::kWeightGradient) {
    accumulate(shape, "main_grad_dtype", op);
  }
  return op;
}

}  // namespace

bool add_kernel(const KernelSubject& subject, const DeviceModel& device, Call& call) {
  if (subject.kind == "pcie") {
    return add_pcie(subject, device, call);
  }
  if (subject.kind == "launch") {
    call.set_issue(device.issue.kernel);
    return true;
  }
  const auto dtype = dtype_of(subject.dtype);
  if (!dtype) {
    return false;
  }
  if (subject.kind == "gemm" || subject.kind == "bmm") {
    return add_product(subject, *dtype, call);
  }
  if (subject.kind == "attention") {
    return add_attention(subject, device, call);
  }
  if (subject.kind == "memory") {
    return add_stream(subject, *dtype, device, call);
  }
  if (subject.kind == "loss") {
    return add_loss(subject, call);
  }
  return subject.kind == "optimizer" && add_optimizer(subject, *dtype, device, call);
}

std::optional<Operator> efficiency_operator(const KernelEfficiencySubject& subject) {
  const Shape shape(subject);
  if (subject.op == "matmul") {
    return matmul_of(shape);
  }
  if (subject.op == "group_matmul") {
    return group_of(shape);
  }
  const bool backward = subject.op == "sdp_bwd";
  if (!backward && subject.op != "sdp_fwd") {
    return std::nullopt;
  }
  return attention_of({.batch = shape.count("batch"),
                       .heads = shape.count("head_num"),
                       .kv_heads = shape.count("kv_head_num"),
                       .seq = shape.count("seq_len"),
                       .key_dim = shape.count("qk_head_dim"),
                       .value_dim = shape.count("v_head_dim")},
                      backward ? Pass::kInputGradient : Pass::kForward);
}

}  // namespace sextant::app
