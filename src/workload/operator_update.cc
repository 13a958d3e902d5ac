// What happens to the parameters besides their use in products: casts and accumulation in every
// microbatch, and the update once a step.
#include <algorithm>
#include <utility>

#include "describe/layout/precision.h"
#include "workload/block_walk.h"
#include "workload/operator_parameters.h"
#include "workload/operators.h"

namespace sextant::workload {
namespace {

using describe::Block;
using describe::Job;
using describe::Layout;
using describe::Optimizer;
using describe::OptimizerKind;
using describe::Storage;
using describe::Zero;

// Bytes that the optimizer reads and writes for one parameter: the gradient, the copy it updates,
// the compute copy where that is another, and the moments.
std::pair<double, double> bytes_of_update(const Layout& layout) {
  const Optimizer& optimizer = layout.optimizer;
  const double moments = bytes_of(optimizer.first_moment) + bytes_of(optimizer.second_moment);
  const double gradient = bytes_of(layout.gradients);
  const double copy = bytes_of(layout.parameters);
  const double master = bytes_of(optimizer.master);
  const double updated = master > 0.0 ? master : copy;
  // Adafactor reads the gradient twice: for the means of its rows and columns, and to update.
  const double gradients = optimizer.kind == OptimizerKind::kAdafactor ? 2.0 : 1.0;
  return {gradients * gradient + updated + moments,
          updated + moments + (master > 0.0 ? copy : 0.0)};
}

double lora_elements(const Job& job, std::span<const Stage> held, const Shard& shard) {
  static const describe::Lora kDefault;
  const describe::Lora& lora = job.lora ? *job.lora : kDefault;
  double elements = 0.0;
  for (const Stage& stage : held) {
    for (std::size_t i = 0; i < stage.blocks.size(); ++i) {
      if (stage.blocks[i] > 0) {
        elements += static_cast<double>(stage.blocks[i]) *
                    static_cast<double>(lora_weights(job.model, job.model.blocks[i], lora, shard));
      }
    }
  }
  return elements;
}

// A sink that hears only of weight matrices and orthogonalises each. Newton–Schulz: five times
// A = X·Xᵀ, B = bA + cA², X = aX + B·X, on the shorter side. Every rank works on its
// tensor-parallel shard of a matrix (Megatron's --muon-tp-mode blockwise, the default), and whole
// matrices are dealt over the ranks that share states.
// Source: Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks",
// kellerjordan.github.io/posts/muon; Liu et al., arXiv:2502.16982, section 2.3.
template <class Emit>
class Orthogonalise {
 public:
  Orthogonalise(const Shard& shard, std::int64_t layers, Emit& emit)
      : shard_(shard), layers_(layers), emit_(emit) {}

  void gemm(const Gemm& call) {
    if (call.part != Part::kHead) {  // embedding and head are updated by Adam
      matrices(divided_up(layers_, shard_.zero_shards), call.n, call.k);
    }
  }
  void grouped_gemm(const GroupedGemm& call) {
    matrices(divided_up(layers_ * call.experts, shard_.expert_shards), call.n, call.k);
  }
  void attention(const AttentionCall& /*call*/) {}
  void scan(const ScanCall& /*call*/) {}
  void stream(const Stream& /*call*/) {}
  void lora(const LoraCall& /*call*/) {}

 private:
  void matrices(std::int64_t count, std::int64_t n, std::int64_t k) {
    const std::int64_t rows = std::min(n, k);
    const std::int64_t columns = std::max(n, k);
    product(count, rows, rows, columns);
    product(count, rows, rows, rows);
    product(count, rows, columns, rows);
  }
  void product(std::int64_t count, std::int64_t m, std::int64_t n, std::int64_t k) {
    constexpr std::int64_t kIterations = 5;
    constexpr double kBf16 = 2.0;
    const auto rows = static_cast<double>(m);
    const auto columns = static_cast<double>(n);
    const auto depth = static_cast<double>(k);
    emit_(Operator{.kind = OpKind::kGemm,
                   .pass = Pass::kUpdate,
                   .part = Part::kOptimizer,
                   .dtype = describe::DType::kBf16,
                   .count = kIterations * count,
                   .m = m,
                   .n = n,
                   .k = k,
                   .flops = Flops(2.0 * rows * columns * depth),
                   .read = Bytes(kBf16 * depth * (rows + columns)),
                   .written = Bytes(kBf16 * rows * columns)});
  }

  const Shard& shard_;
  std::int64_t layers_;
  Emit& emit_;
};

template <class Emit>
void emit_muon(const Job& job, const Layout& layout, std::span<const Stage> held,
               const Shard& shard, Emit& emit) {
  const WalkOptions options = walk_options(job, layout);
  for (std::size_t i = 0; i < job.model.blocks.size(); ++i) {
    std::int64_t layers = 0;
    for (const Stage& stage : held) {
      const bool predicts = static_cast<std::size_t>(job.model.mtp_block) == i;
      layers += (i < stage.blocks.size() ? stage.blocks[i] : 0) + (predicts ? stage.mtp_layers : 0);
    }
    if (layers > 0) {
      Orthogonalise<Emit> sink(shard, layers, emit);
      walk_block(job.model, job.model.blocks[i], shard, options, sink);
    }
  }
  for (const Stage& stage : held) {
    if (stage.mtp_layers > 0) {
      Orthogonalise<Emit> sink(shard, stage.mtp_layers, emit);
      walk_mtp_entry(job.model, shard, options, sink);
    }
  }
}

template <class Emit>
void emit_update(const Job& job, const Layout& layout, std::span<const Stage> held,
                 const Shard& shard, Emit& emit) {
  if (job.workload == describe::Workload::kForward) {
    return;
  }
  const bool adapters = job.workload == describe::Workload::kLora;
  Weights weights;
  for (const Stage& stage : held) {
    weights += stage_weights(job.model, stage, shard);
  }
  const double whole = adapters ? lora_elements(job, held, shard)
                                : static_cast<double>(weights.dense + weights.experts);
  const double sharded =
      adapters
          ? whole / static_cast<double>(shard.zero_shards)
          : static_cast<double>(weights.dense) / static_cast<double>(shard.zero_shards) +
                static_cast<double>(weights.experts) / static_cast<double>(shard.expert_shards);
  const double gradient = bytes_of(layout.gradients);
  emit(parameter_pass(OpKind::kReduceNorm, Pass::kUpdate, sharded, gradient, 0.0));
  if (layout.optimizer.kind == OptimizerKind::kMuon && !adapters) {
    emit_muon(job, layout, held, shard, emit);
  }
  const auto [read, written] = bytes_of_update(layout);
  emit(parameter_pass(OpKind::kOptimizer, Pass::kUpdate, sharded, read, written));
  if (accumulates_in_product(job.framework)) {
    emit(parameter_pass(OpKind::kCopy, Pass::kUpdate, whole, 0.0, gradient));
    if (describe::is_quantised(layout.precision)) {
      constexpr double kWays = 2.0;  // as it is and transposed
      emit(parameter_pass(
          OpKind::kQuantise, Pass::kUpdate, static_cast<double>(weights.dense + weights.experts),
          static_cast<double>(shard.activation_bytes), kWays * operand_bytes(layout.precision)));
    }
  }
}

}  // namespace

namespace {

// PyTorch's FSDP and DeepSpeed's ZeRO-3 gather into one buffer and copy each parameter out of it.
// FSDP2 that keeps what it gathered is described as ZeRO-2 with parameters not freed.
bool gathers_with_copies(describe::Framework framework, const Layout& layout) {
  const bool fsdp = framework == describe::Framework::kTorchtitan ||
                    framework == describe::Framework::kFsdp1 ||
                    framework == describe::Framework::kAccelerate;
  return layout.zero == Zero::kParameters || (fsdp && layout.zero == Zero::kGradients);
}

}  // namespace

ParameterStreams parameter_streams(const Job& job, const Layout& layout, const Shard& shard) {
  ParameterStreams streams;
  const double activation = static_cast<double>(shard.activation_bytes);
  const double parameter = bytes_of(layout.parameters);
  const double gradient = bytes_of(layout.gradients);
  const auto dense_part = 1.0 / static_cast<double>(shard.zero_shards);
  const auto expert_part = 1.0 / static_cast<double>(shard.expert_shards);
  if (parameter > activation) {
    streams.cast_read = parameter;
    streams.cast_written = activation;
    const bool gathered = layout.zero == Zero::kParameters;
    const bool backward = job.workload != describe::Workload::kForward;
    streams.cast_again = gathered && layout.reshard_after_forward && backward;
    streams.dense_share = gathered ? dense_part : 1.0;
    streams.expert_share = gathered ? expert_part : 1.0;
  }
  if (accumulates_in_product(job.framework)) {
    return streams;
  }
  const Code code = code_of(job, layout);
  if (shard.zero_shards > 1 && gathers_with_copies(job.framework, layout)) {
    streams.gathered = activation;
    streams.gathered_again =
        layout.reshard_after_forward && job.workload != describe::Workload::kForward;
  }
  if (code == Code::kAutocast) {
    constexpr double kMatrices = 7.0;  // of a block; each is cast by itself
    streams.kernels = kMatrices;
  }
  if (describe::is_quantised(layout.precision)) {
    constexpr double kWays = 2.0;  // as it is and transposed
    streams.quantise_read = activation;
    streams.quantise_written = kWays * operand_bytes(layout.precision);
  }
  if (job.workload == describe::Workload::kForward || job.workload == describe::Workload::kLora) {
    return streams;
  }
  if (gradient > activation) {
    streams.gradient_read = activation;
    streams.gradient_written = gradient;
    streams.widened = runs_kernels_of_pytorch(code) ? kWidenedGradient : 0.0;
  }
  if (shard.microbatches > 1) {
    // Every microbatch but the first, spread over all.
    const auto batches = static_cast<double>(shard.microbatches);
    const double share = (batches - 1.0) / batches;
    streams.accumulate_read = 2.0 * gradient * share;
    streams.accumulate_written = gradient * share;
    const bool scattered = layout.zero == Zero::kGradients || layout.zero == Zero::kParameters;
    streams.dense_gradient_share = scattered ? dense_part : 1.0;
    streams.expert_gradient_share = scattered ? expert_part : 1.0;
  }
  return streams;
}

std::vector<Operator> update_operators(const Job& job, const Layout& layout,
                                       std::span<const Stage> held, const Shard& shard) {
  std::vector<Operator> list;
  const auto emit = [&list](const Operator& op) { list.push_back(op); };
  emit_update(job, layout, held, shard, emit);
  return list;
}

WorkTotals update_totals(const Job& job, const Layout& layout, std::span<const Stage> held,
                         const Shard& shard) {
  WorkTotals totals;
  const auto emit = [&totals](const Operator& op) {
    totals.update += Work{op.flops, op.read + op.written} * static_cast<double>(op.count);
  };
  emit_update(job, layout, held, shard, emit);
  return totals;
}

}  // namespace sextant::workload
