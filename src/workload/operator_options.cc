#include "workload/operator_options.h"

#include "describe/layout/precision.h"
#include "workload/saved_walk.h"

namespace sextant::workload {

using describe::DType;
using describe::Framework;
using describe::Job;
using describe::Layout;
using describe::Precision;

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

namespace {

// PyTorch has no fused fp32 kernel for grouped queries: the scores pass through memory.
describe::AttentionKernel attention_of(const Job& job, const Layout& layout) {
  const bool plain = code_of(job, layout) == Code::kFull && !saved_rules(job, layout).flash;
  return plain ? describe::AttentionKernel::kEager : layout.attention;
}

}  // namespace

WalkOptions walk_options(const Job& job, const Layout& layout) {
  WalkOptions options;
  options.attention = attention_of(job, layout);
  // XLA gathers keys and values whatever the layout says (cp_traffic.h).
  options.cp_method = job.framework == describe::Framework::kMaxtext
                          ? describe::CpMethod::kAllGather
                          : layout.cp_method;
  options.cp_inner = layout.cp_inner;
  options.dispatcher = layout.dispatcher;
  options.fused_projections = accumulates_in_product(job.framework) ||
                              job.framework == Framework::kNanotron ||
                              describe::projects_at_once(job.model);
  const Code code = code_of(job, layout);
  options.streams = &stream_table(code);
  options.spelled_gelu = describe::spells_gelu_out(job.model);
  options.loss_compiled = code == Code::kCompiled || layout.loss == describe::LossKernel::kFused;
  // transformers hands its own mask to a compiled model. What FSDP 1 wraps is a trainer's own
  // (fms-fsdp, LLM Foundry): causal without one, by a kernel that takes none.
  options.masked_attention = code == Code::kCompiled && runs_transformers(job.framework) &&
                             job.framework != Framework::kFsdp1;
  options.repeats_kv =
      code == Code::kTitan || (code == Code::kCompiled && job.framework == Framework::kTorchtitan);
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
  const Code code = code_of(job, layout);
  options.row_sum = runs_kernels_of_pytorch(code) ? kRowSum : 0.0;
  options.streams = &stream_table(code);
  const bool in_product = accumulates_in_product(job.framework);
  options.accumulate_read = in_product ? bytes_of(layout.gradients) : 0.0;
  options.accumulate_written = in_product ? bytes_of(layout.gradients) : options.activation;
  return options;
}

}  // namespace sextant::workload
