#include "validate/kernel_rows.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "validate/kernel_stream_rows.h"

namespace sextant::validate {
namespace {

using cost::DeviceModel;
using cost::OperatorCost;
using describe::DType;
using measured::KernelEfficiencySubject;
using measured::KernelSubject;
using workload::Operator;
using workload::OpKind;
using workload::Pass;

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
  const double element = table_bytes(op.dtype);
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
  std::int64_t window = 0;  // keys a query sees at most; 0: all before it
  bool causal = true;
};

// Keys that a query sees, on average.
double keys_seen(const AttentionShape& shape) {
  const auto seq = static_cast<double>(shape.seq);
  if (!shape.causal) {
    return seq;
  }
  const double window = shape.window > 0 ? static_cast<double>(shape.window) : seq;
  return window < seq ? window - window * window / (2.0 * seq) : seq / 2.0;
}

// bf16: what the tables measure.
Operator attention_of(const AttentionShape& shape, Pass pass) {
  constexpr double kElement = 2.0;
  Operator op{.kind = OpKind::kAttention, .pass = pass, .batch = shape.batch};
  op.m = shape.seq;
  op.n = shape.seq;
  op.k = shape.key_dim;
  op.heads = shape.heads;
  op.kv_heads = shape.kv_heads;
  op.value_dim = shape.value_dim;
  op.keys = keys_seen(shape);
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

// A weight gradient that is written in fp32, or added to what is there in fp32.
bool add_fp32_gradient(const KernelCall& row, Product product, Call& call) {
  const bool adds = row.variant == "wgrad_acc_fp32";
  if (!adds && row.variant != "wgrad_out_fp32") {
    return false;
  }
  Operator op = product_of(product, Pass::kWeightGradient);
  constexpr double kFp32 = 4.0;
  op.written = Bytes(kFp32 * static_cast<double>(op.m) * static_cast<double>(op.n));
  if (adds) {
    op.read += op.written;
  }
  call.add(op);
  return true;
}

bool add_product(const KernelCall& row, DType dtype, Call& call) {
  const bool grouped = row.kind == "grouped";
  const std::size_t first = row.kind == "gemm" ? 0 : 1;
  const Product product{.kind = grouped ? OpKind::kGroupedGemm : OpKind::kGemm,
                        .dtype = dtype,
                        .copies = first == 0 ? 1 : row.size(0),
                        .tokens = row.size(first),
                        .out = row.size(first + 1),
                        .in = row.size(first + 2)};
  const auto pass = pass_of(row.variant);
  if (!pass) {
    return row.kind == "gemm" && add_fp32_gradient(row, product, call);
  }
  call.add(product_of(product, *pass));
  return true;
}

bool add_attention(const KernelCall& row, const DeviceModel& device, Call& call) {
  const bool windowed = row.variant.starts_with("flash_window_");
  const bool whole =
      row.variant.starts_with("flash_full_") || row.variant.starts_with("cudnn_full_");
  const bool other = row.variant.starts_with("flash-") || row.variant.starts_with("cudnn-") ||
                     row.variant.starts_with("math-");
  const bool backward = row.variant.ends_with("bwd");
  if ((!windowed && !whole && !other) || (!backward && !row.variant.ends_with("fwd"))) {
    return false;
  }
  const std::int64_t last = row.size(5);  // the window, else the values' size where it differs
  const AttentionShape shape{.batch = row.size(0),
                             .heads = row.size(1),
                             .kv_heads = row.size(2),
                             .seq = row.size(3),
                             .key_dim = row.size(4),
                             .value_dim = windowed || last == 0 ? row.size(4) : last,
                             .window = windowed ? last : 0,
                             .causal = !whole};
  if (row.variant.starts_with("math")) {
    add_math_attention(shape, backward, device, call);
  } else {
    call.add(attention_of(shape, backward ? Pass::kInputGradient : Pass::kForward));
  }
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

bool add_known(const KernelCall& row, std::string_view dtype_text, const DeviceModel& device,
               Call& call) {
  if (row.kind == "gemm" || row.kind == "bmm" || row.kind == "grouped") {
    const auto dtype = table_dtype(dtype_text);
    return dtype && add_product(row, *dtype, call);
  }
  if (row.kind == "attention") {
    return table_dtype(dtype_text) && add_attention(row, device, call);
  }
  return add_stream_kernel(row, table_dtype(dtype_text), device, call);
}

}  // namespace

bool add_kernel(const KernelSubject& subject, const DeviceModel& device, Call& call) {
  KernelCall row{subject.kind, subject.variant, subject.sizes};
  constexpr std::string_view kGraph = "_graph";
  const bool replayed = row.kind != "launch" && row.variant.ends_with(kGraph);
  if (replayed) {
    row.variant.remove_suffix(kGraph.size());
  }
  if (!add_known(row, subject.dtype, device, call)) {
    return false;
  }
  if (replayed) {
    call.set_issue(Seconds());
  }
  return true;
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

}  // namespace sextant::validate
