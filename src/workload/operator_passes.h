// A sink (operator_calls.h) that turns each call of a walk into the operators of its passes:
// forward, gradient of the input, gradient of the weight.
//
// Each operator goes to `emit(const Operator&, Part host)` at once, so that a list and a sum are
// made by the same formulas; inlined into a sum, nothing of the Operator but its numbers is left.
// `host` is the part that recomputation decides by: an adapter runs again with its host.
//
// Formulas and their sources: docs/models/operators.md.
#pragma once

#include "workload/operator_options.h"
#include "workload/stream_tables.h"

namespace sextant::workload {

// A mean number of rows as a shape has it: rounded up.
constexpr std::int64_t whole_rows(double rows) {
  const auto below = static_cast<std::int64_t>(rows);
  return below + (static_cast<double>(below) < rows ? 1 : 0);
}

template <class Emit>
class Passes {
 public:
  Passes(const PassOptions& options, Emit& emit) : options_(options), emit_(emit) {}

  [[gnu::always_inline]] void gemm(const Gemm& call) const {
    product({.part = call.part,
             .host = call.part,
             .kind = OpKind::kGemm,
             .count = 1,
             .m = static_cast<double>(call.m),
             .n = call.n,
             .k = call.k,
             .bytes = bytes_of_format(call.format),
             .quantised = options_.quantises && call.format == ProductFormat::kJob,
             .bias = call.bias,
             .input_gradient = call.input_gradient,
             .weight_gradient = options_.weight_gradients,
             .model_share = call.model_share});
  }

  [[gnu::always_inline]] void grouped_gemm(const GroupedGemm& call) const {
    product({.part = call.part,
             .host = call.part,
             .kind = OpKind::kGroupedGemm,
             .count = call.experts,
             .m = call.m,
             .n = call.n,
             .k = call.k,
             .bytes = options_.job,
             .quantised = options_.quantises,
             .bias = call.bias,
             .input_gradient = true,
             .weight_gradient = options_.weight_gradients,
             .model_share = 1.0});
  }

  [[gnu::always_inline]] void lora(const LoraCall& call) const {
    Product down{.part = Part::kLora,
                 .host = call.host,
                 .kind = OpKind::kGemm,
                 .count = 1,
                 .m = static_cast<double>(call.m),
                 .n = call.rank,
                 .k = call.in,
                 .bytes = bytes_of_format(ProductFormat::kActivation),
                 .quantised = false,
                 .bias = false,
                 .input_gradient = true,
                 .weight_gradient = true,
                 .model_share = 1.0};
    product(down);
    down.n = call.out;
    down.k = call.rank;
    product(down);
    constexpr StreamCost kAdd{
        .read = 2.0, .written = 1.0, .backward_read = 2.0, .backward_written = 1.0};
    pass_through({.part = Part::kLora,
                  .kind = OpKind::kResidual,
                  .rows = static_cast<double>(call.m),
                  .width = call.out,
                  .cost = kAdd},
                 call.host);
  }

  [[gnu::always_inline]] void stream(const Stream& call) const { pass_through(call, call.part); }

  [[gnu::always_inline]] void attention(const AttentionCall& call) const {
    if (describe::is_flash(call.kernel)) {
      flash(call);
    } else {
      materialised(call);
    }
  }

  [[gnu::always_inline]] void scan(const ScanCall& call) const {
    const double tokens = static_cast<double>(call.batch) * static_cast<double>(call.m);
    Operator op{.kind = OpKind::kScan,
                .pass = Pass::kForward,
                .part = call.part,
                .dtype = options_.activation_dtype,
                .batch = call.batch,
                .m = call.m,
                .n = call.head_dim,
                .k = call.state,
                .heads = call.heads,
                .flops = call.flops * tokens,
                .read = call.read * tokens,
                .written = call.written * tokens};
    emit_(op, call.part);
    if (options_.backward) {
      op.pass = Pass::kInputGradient;
      op.flops = call.backward_flops * tokens;
      op.read = call.backward_read * tokens;
      op.written = call.backward_written * tokens;
      emit_(op, call.part);
    }
  }

 private:
  // `count` products of m×k by k×n.
  struct Product {
    Part part = Part::kQkv;
    Part host = Part::kQkv;
    OpKind kind = OpKind::kGemm;
    std::int64_t count = 1;
    double m = 0.0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    ProductBytes bytes;
    bool quantised = false;
    bool bias = false;
    bool input_gradient = true;
    bool weight_gradient = true;
    double model_share = 1.0;
  };

  // Of a product's three matrices, all `count` together.
  struct Elements {
    double inputs = 0.0;
    double weights = 0.0;
    double outputs = 0.0;
  };

  [[nodiscard, gnu::always_inline]] ProductBytes bytes_of_format(ProductFormat format) const {
    const double a = options_.activation;
    constexpr double kFp32 = 4.0;
    switch (format) {
      case ProductFormat::kJob:
        return options_.job;
      case ProductFormat::kActivation:
        return {options_.activation_dtype, a, a, a, a};
      case ProductFormat::kFp32:
        return {describe::DType::kFp32, a, kFp32, kFp32, kFp32};
    }
    return options_.job;
  }

  [[gnu::always_inline]] void product(const Product& p) const {
    const double times = static_cast<double>(p.count);
    const double n = static_cast<double>(p.n);
    const double k = static_cast<double>(p.k);
    const Elements elements{times * p.m * k, times * n * k, times * p.m * n};
    const Flops flops(2.0 * elements.inputs * n);
    if (p.quantised) {
      quantise(p, Pass::kForward, times * p.m, p.k);
    }
    const Operator op{
        .kind = p.kind,
        .pass = Pass::kForward,
        .part = p.part,
        .dtype = p.bytes.dtype,
        .batch = p.count,
        .m = whole_rows(p.m),
        .n = p.n,
        .k = p.k,
        .flops = flops,
        .model_flops = flops * p.model_share,
        .read = Bytes(elements.inputs * p.bytes.input + elements.weights * p.bytes.weight),
        .written = Bytes(elements.outputs * p.bytes.output)};
    emit_(op, p.host);
    if (options_.backward) {
      gradients(p, elements, op);
    }
  }

  [[gnu::always_inline]] void gradients(const Product& p, const Elements& elements,
                                        Operator op) const {
    const std::int64_t rows = op.m;
    const double times = static_cast<double>(p.count);
    if (p.quantised) {
      quantise(p, Pass::kInputGradient, times * p.m, p.n);
    }
    if (p.input_gradient) {
      op.pass = Pass::kInputGradient;
      op.n = p.k;
      op.k = p.n;
      op.read = Bytes(elements.outputs * p.bytes.gradient + elements.weights * p.bytes.weight);
      op.written = Bytes(elements.inputs * options_.activation);
      emit_(op, p.host);
    }
    if (p.weight_gradient) {
      op.pass = Pass::kWeightGradient;
      op.m = p.n;
      op.n = p.k;
      op.k = rows;
      op.read = Bytes(elements.outputs * p.bytes.gradient + elements.inputs * p.bytes.input +
                      elements.weights * options_.accumulate_read);
      op.written = Bytes(elements.weights * options_.accumulate_written);
      emit_(op, p.host);
      if (p.bias) {
        bias_gradient(p, times);
      }
    }
  }

  // A copy in the narrow format for each of the two products that read it: as it is, and
  // transposed (or scaled along the other axis) for the weight gradient.
  [[gnu::always_inline]] void quantise(const Product& p, Pass pass, double rows,
                                       std::int64_t width) const {
    const double elements = rows * static_cast<double>(width);
    const double copies = options_.backward ? 2.0 : 1.0;
    emit_(Operator{.kind = OpKind::kQuantise,
                   .pass = pass,
                   .part = p.part,
                   .dtype = p.bytes.dtype,
                   .m = whole_rows(rows),
                   .n = width,
                   .read = Bytes(elements * options_.activation),
                   .written = Bytes(elements * copies * p.bytes.input)},
          p.host);
  }

  // The sum of the output's gradient over rows.
  [[gnu::always_inline]] void bias_gradient(const Product& p, double times) const {
    const double outputs = times * p.m * static_cast<double>(p.n);
    emit_(Operator{.kind = OpKind::kCopy,
                   .pass = Pass::kWeightGradient,
                   .part = p.part,
                   .dtype = options_.activation_dtype,
                   .m = whole_rows(p.m) * p.count,
                   .n = p.n,
                   .indexed = options_.row_sum * times * p.m,
                   .read = Bytes(outputs * options_.activation),
                   .written = Bytes(times * static_cast<double>(p.n) * options_.activation)},
          p.host);
  }

  [[gnu::always_inline]] void pass_through(const Stream& call, Part host) const {
    const double elements = call.rows * static_cast<double>(call.width);
    const double bytes =
        elements * (call.element_bytes > 0.0 ? call.element_bytes : options_.activation);
    Operator op{.kind = call.kind,
                .pass = Pass::kForward,
                .part = call.part,
                .dtype = options_.activation_dtype,
                .m = whole_rows(call.rows),
                .n = call.width,
                .kernels = call.cost.kernels,
                .indexed = elements * call.cost.indexed,
                .read = Bytes(bytes * call.cost.read),
                .written = Bytes(bytes * call.cost.written)};
    emit_(op, host);
    if (options_.backward &&
        (call.gradient != Pass::kWeightGradient || options_.weight_gradients)) {
      op.pass = call.gradient;
      op.kernels = call.cost.backward_kernels;
      op.indexed = elements * call.cost.backward_indexed;
      op.read = Bytes(bytes * call.cost.backward_read);
      op.written = Bytes(bytes * call.cost.backward_written);
      emit_(op, host);
    }
  }

  // Scores are never written; of the causal square only the pairs that count are computed.
  // Backward: scores again, then the gradients of values, weights, queries and keys.
  // Source: Dao, arXiv:2307.08691, section 3.1 (two products forward, five backward).
  [[gnu::always_inline]] void flash(const AttentionCall& call) const {
    constexpr double kFp32 = 4.0;
    const double a = options_.activation;
    const double k = static_cast<double>(call.k);
    const double v = static_cast<double>(call.value_dim);
    const double queries = static_cast<double>(call.batch) * static_cast<double>(call.m) *
                           static_cast<double>(call.heads);
    const double stored = static_cast<double>(call.batch) * static_cast<double>(call.n) *
                          static_cast<double>(call.kv_heads);
    const Flops model(2.0 * queries * call.model_keys * (k + v));
    const double rows = queries * ring_sweeps(static_cast<double>(call.rounds));
    const double inputs = a * (rows * k + stored * (k + v));
    const double outputs = a * rows * v + kFp32 * rows;  // and the log of each row's sum
    Operator op = shape(call, Pass::kForward);
    op.kind = OpKind::kAttention;
    op.kernels = static_cast<double>(call.rounds);
    op.flops = Flops(2.0 * queries * call.keys * (k + v));
    op.model_flops = model;
    op.read = Bytes(inputs);
    op.written = Bytes(outputs);
    emit_(op, call.part);
    if (options_.backward) {
      op.pass = Pass::kInputGradient;
      op.flops = Flops(2.0 * queries * call.keys * (3.0 * k + 2.0 * v));
      op.model_flops = model * 2.0;
      op.read = Bytes(inputs + outputs + a * rows * v);
      op.written = Bytes(inputs);
      emit_(op, call.part);
    }
    if (call.rounds > 1) {
      merge_rounds(call);
    }
  }

  // What a ring adds to its kernels: keys and values put side by side to be sent; after each round
  // the rows' sums and the output so far corrected; backward the round's gradients of queries, and
  // of keys and values, added to those so far, and these put side by side again.
  // Source: TransformerEngine 2.x, context_parallel.py (AttnFuncWithCPAndKVP2P,
  // flash_attn_fwd_softmax_lse_correction, flash_attn_fwd_out_correction).
  void merge_rounds(const AttentionCall& call) const {
    const double rounds = static_cast<double>(call.rounds);
    const double merged = ring_sweeps(rounds) - 1.0;  // passes over the queries after the first
    const double keys = 2.0 * static_cast<double>(call.kv_heads) / static_cast<double>(call.heads);
    pass_through({.part = call.part,
                  .kind = OpKind::kCopy,
                  .rows = static_cast<double>(call.batch) * static_cast<double>(call.m),
                  .width = call.heads * call.value_dim,
                  .cost = {.read = 1.0 + 2.0 * merged + keys,
                           .written = 1.0 + merged + keys,
                           .backward_read = 2.0 * merged + 3.0 * keys * merged,
                           .backward_written = merged + 2.0 * keys * merged,
                           .kernels = 2.0 * rounds,
                           .backward_kernels = 3.0 * (rounds - 1.0)}},
                 call.part);
  }

  // Scores pass through memory and the whole square is computed: two batched products and a
  // softmax, four and its gradient backward.
  void materialised(const AttentionCall& call) const {
    const auto heads = static_cast<double>(call.batch * call.heads);
    const double seen =
        static_cast<double>(call.n) > 0.0 ? call.model_keys / static_cast<double>(call.n) : 0.0;
    const double rows = heads * static_cast<double>(call.m);
    score_product(call, call.k, Pass::kForward, seen);
    pass_through({.part = call.part,
                  .kind = OpKind::kActivation,
                  .rows = rows,
                  .width = call.n,
                  .cost = call.kernel == describe::AttentionKernel::kFused
                              ? stream_table(Code::kFused).scores
                              : options_.streams->scores},
                 call.part);
    score_product(call, call.value_dim, Pass::kForward, seen);
    if (options_.backward) {
      for (const std::int64_t width : {call.k, call.k, call.value_dim, call.value_dim}) {
        score_product(call, width, Pass::kInputGradient, seen);
      }
    }
  }

  // A product between the scores (m×n a head) and a matrix of `width` columns, either way round.
  void score_product(const AttentionCall& call, std::int64_t width, Pass pass, double seen) const {
    const auto heads = static_cast<double>(call.batch * call.heads);
    const auto m = static_cast<double>(call.m);
    const auto n = static_cast<double>(call.n);
    const auto columns = static_cast<double>(width);
    Operator op = shape(call, pass);
    op.kind = OpKind::kGemm;
    op.batch = call.batch * call.heads;
    op.k = width;
    op.flops = Flops(2.0 * heads * m * n * columns);
    op.model_flops = op.flops * seen;
    op.read = Bytes(heads * options_.activation * (m + n) * columns);
    op.written = Bytes(heads * options_.activation * m * n);
    emit_(op, call.part);
  }

  [[nodiscard, gnu::always_inline]] Operator shape(const AttentionCall& call, Pass pass) const {
    return Operator{.pass = pass,
                    .part = call.part,
                    .dtype = options_.activation_dtype,
                    .batch = call.batch,
                    .m = call.m,
                    .n = call.n,
                    .k = call.k,
                    .heads = call.heads,
                    .kv_heads = call.kv_heads,
                    .value_dim = call.value_dim,
                    .keys = call.keys,
                    .masked = call.masked};
  }

  const PassOptions& options_;
  Emit& emit_;
};

}  // namespace sextant::workload
