#include "workload/operator_options.h"

#include "describe/layout/precision.h"

namespace sextant::workload {

using describe::DType;
using describe::Framework;
using describe::Job;
using describe::Layout;
using describe::Precision;

namespace {

// Numbers of passes through memory where every line of PyTorch code is a kernel, in elements of
// 16 bits. Source: Hugging Face transformers v4.57, models/llama/modeling_llama.py: LlamaRMSNorm
// (to fp32, square, mean, scale, to bf16, weight), apply_rotary_pos_emb with rotate_half, and
// act_fn(gate) * up; backward as autograd derives it.
constexpr StreamCost kUnfusedRmsNorm{
    .read = 10.0, .written = 8.0, .backward_read = 23.0, .backward_written = 15.0};
constexpr StreamCost kUnfusedRotary{
    .read = 5.5, .written = 4.5, .backward_read = 6.0, .backward_written = 6.0};
// Source: the same, activations.py, NewGELUActivation: a cube, three sums, four products, a tanh.
constexpr StreamCost kUnfusedNewGelu{
    .read = 10.0, .written = 8.0, .backward_read = 18.0, .backward_written = 11.0};
constexpr StreamCost kUnfusedGate{
    .read = 3.0, .written = 2.0, .backward_read = 6.0, .backward_written = 3.0};

// One kernel each way.
constexpr StreamCost kFusedNorm{
    .read = 1.0, .written = 1.0, .backward_read = 2.0, .backward_written = 1.0};
constexpr StreamCost kFusedRotary{
    .read = 1.0, .written = 1.0, .backward_read = 1.0, .backward_written = 1.0};
constexpr StreamCost kFusedGate{
    .read = 2.0, .written = 1.0, .backward_read = 3.0, .backward_written = 2.0};

constexpr StreamCost kFusedActivation{
    .read = 1.0, .written = 1.0, .backward_read = 2.0, .backward_written = 1.0};

bool has_fused_kernels(Framework framework) {
  switch (framework) {
    case Framework::kMegatronCore:
    case Framework::kMegatronDeepspeed:
    case Framework::kNanotron:
    case Framework::kMaxtext:
      return true;
    case Framework::kTorchtitan:
    case Framework::kFsdp1:
    case Framework::kDeepspeed:
    case Framework::kAccelerate:
    case Framework::kOther:
      return false;
  }
  return false;
}

}  // namespace

double operand_bytes(Precision precision) {
  // Source: OCP Microscaling Formats (MX) specification v1.0: one 8-bit scale for 32 elements.
  constexpr double kMxScale = 1.0 / 32.0;
  // Source: arXiv:2509.25149, section 2: one 8-bit scale for 16 elements.
  constexpr double kNvfp4Scale = 1.0 / 16.0;
  switch (precision) {
    case Precision::kMxfp8:
      return bytes_of(precision) + kMxScale;
    case Precision::kNvfp4:
      return bytes_of(precision) + kNvfp4Scale;
    case Precision::kFp32:
    case Precision::kTf32:
    case Precision::kFp16:
    case Precision::kBf16:
    case Precision::kFp8:
    case Precision::kInt8:
      return bytes_of(precision);
  }
  return 0.0;
}

WalkOptions walk_options(const Job& job, const Layout& layout) {
  WalkOptions options;
  options.attention = layout.attention;
  options.cp_method = layout.cp_method;
  options.cp_inner = layout.cp_inner;
  options.dispatcher = layout.dispatcher;
  options.fused_projections =
      accumulates_in_product(job.framework) || job.framework == Framework::kNanotron;
  const bool fused =
      has_fused_kernels(job.framework) || layout.launch == describe::Launch::kCompiled;
  // LayerNorm is one kernel in PyTorch, and so is torchtitan's nn.RMSNorm.
  const bool norm_fused =
      fused || job.model.norm.subtracts_mean || job.framework == Framework::kTorchtitan;
  options.norm = norm_fused ? kFusedNorm : kUnfusedRmsNorm;
  options.rotary = fused ? kFusedRotary : kUnfusedRotary;
  options.plain_activation =
      !fused && describe::spells_gelu_out(job.model) ? kUnfusedNewGelu : kFusedActivation;
  options.gated_activation = fused ? kFusedGate : kUnfusedGate;
  options.embedding_gradient =
      accumulates_in_product(job.framework) ? bytes_of(layout.gradients) : 0.0;
  if (job.workload == describe::Workload::kLora) {
    static const describe::Lora kDefault;
    const describe::Lora& lora = job.lora ? *job.lora : kDefault;
    options.lora_rank = lora.rank;
    for (const describe::LoraModule module : lora.modules) {
      options.lora_modules |= 1U << static_cast<unsigned>(module);
    }
  }
  return options;
}

PassOptions pass_options(const Job& job, const Layout& layout, const Shard& shard) {
  PassOptions options;
  options.backward = job.workload != describe::Workload::kForward;
  options.weight_gradients = options.backward && job.workload != describe::Workload::kLora;
  options.quantises = describe::is_quantised(layout.precision);
  options.activation = static_cast<double>(shard.activation_bytes);
  options.activation_dtype = options.quantises ? DType::kBf16 : describe::unit_of(layout.precision);
  const double operand = options.quantises ? operand_bytes(layout.precision) : options.activation;
  options.job = {.dtype = describe::unit_of(layout.precision),
                 .input = operand,
                 .weight = operand,
                 .gradient = operand,
                 .output = options.activation};
  const bool in_product = accumulates_in_product(job.framework);
  options.accumulate_read = in_product ? bytes_of(layout.gradients) : 0.0;
  options.accumulate_written = in_product ? bytes_of(layout.gradients) : options.activation;
  return options;
}

}  // namespace sextant::workload
