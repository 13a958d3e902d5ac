#include "made_job.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "machine/machine.h"
#include "step/step_answer.h"

namespace sextant::tests {
namespace {

using workload::OpKind;
using workload::Part;
using workload::Pass;

bool is_attention_side(Part part) {
  return part <= Part::kMixerResidual;
}

// As today's libraries name them on an H100.
std::string kernel_name(const workload::Operator& op) {
  const bool backward = op.pass == Pass::kInputGradient || op.pass == Pass::kWeightGradient;
  if (op.kind == OpKind::kGemm) {
    return op.pass == Pass::kForward          ? "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT"
           : op.pass == Pass::kInputGradient  ? "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NNT"
           : op.pass == Pass::kWeightGradient ? "nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NTT"
                                              : "nvjet_tst_192x192_64x4_1x2_h_bz_coopB_TNT";
  }
  if (op.kind == OpKind::kGroupedGemm) {
    return op.pass == Pass::kWeightGradient
               ? "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<"
                 "cutlass::gemm::GroupProblemShape<cute::tuple<int, int, int>>, wgrad>>(Params)"
               : "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<"
                 "cutlass::gemm::GroupProblemShape<cute::tuple<int, int, int>>, bf16>>(Params)";
  }
  if (op.kind == OpKind::kAttention) {
    return backward ? "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_3i"
                    : "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7";
  }
  return is_attention_side(op.part)
             ? (backward ? "triton_red_fused_rms_norm_backward_rotary_add_3"
                         : "triton_red_fused_rms_norm_rotary_add_0")
             : (backward ? "triton_poi_fused_silu_backward_mul_add_rms_norm_4"
                         : "triton_poi_fused_silu_mul_add_rms_norm_1");
}

bool is_of_layer(Part part) {
  return part != Part::kEmbedding && part != Part::kFinalNorm && part != Part::kHead &&
         part != Part::kLoss && part != Part::kMtp && part != Part::kOptimizer;
}

// Operators of a pass over `layers` layers as kernels of one: those of one name and part are one.
// What stands outside of layers makes theirs longer.
std::vector<MadeKernel> kernels_of(const std::vector<cost::OperatorTime>& operators, double layers,
                                   bool is_backward) {
  std::map<std::pair<int, std::string>, MadeKernel> by_place;
  Seconds inside;
  Seconds outside;
  for (const cost::OperatorTime& one : operators) {
    const Seconds takes = one.total() / layers;
    if (!is_of_layer(one.op.part)) {
      outside += takes;
      continue;
    }
    inside += takes;
    const std::string name = kernel_name(one.op);
    const bool is_stream = name.starts_with("triton");
    const Part part = !is_stream                       ? one.op.part
                      : is_attention_side(one.op.part) ? Part::kInputNorm
                                                       : Part::kFfnNorm;
    MadeKernel& kernel = by_place[{static_cast<int>(part), name}];
    kernel.name = name;
    kernel.part = part;
    kernel.takes += takes;
    kernel.is_attention = one.op.kind == OpKind::kAttention;
    kernel.is_expert = one.op.kind == OpKind::kGroupedGemm;
  }
  std::vector<MadeKernel> kernels;
  for (auto& [place, kernel] : by_place) {
    kernel.takes *= 1.0 + outside / inside;
    kernels.push_back(std::move(kernel));
  }
  if (is_backward) {
    std::ranges::reverse(kernels);
  }
  return kernels;
}

std::vector<MadeMessage> messages_of(const std::vector<step::NotedMessage>& noted, double over) {
  std::vector<MadeMessage> messages;
  for (const step::NotedMessage& one : noted) {
    messages.push_back({one.message, one.each, one.times / over});
  }
  return messages;
}

MadePass pass_of(const step::PassRecord& record, double layers, bool is_backward) {
  return {kernels_of(record.operators, layers, is_backward), messages_of(record.messages, layers)};
}

}  // namespace

Seconds MadePass::compute() const {
  Seconds sum;
  for (const MadeKernel& kernel : kernels) {
    sum += kernel.takes;
  }
  return sum;
}

Result<MadeJob> made_job(const std::string& name, const app::JobRequest& request,
                         const app::Context& context) {
  SEXTANT_TRY(const app::JobReading reading, app::read_job(request, context));
  if (!reading.violations.empty()) {
    return invalid(fmt::format("the job breaks {}", reading.violations.front().rule), name);
  }
  SEXTANT_TRY(const machine::StepMachine machine, machine::step_machine(reading.job, context.data));
  const step::RecordedEstimate estimate = step::recorded_estimate(reading.job, machine);
  const step::StageRecord& stage = estimate.record.stages.front();
  MadeJob made;
  made.name = name;
  made.job = reading.job;
  made.layers = estimate.estimate.stages[stage.stage].layers;
  const auto layers = static_cast<double>(made.layers);
  made.forward = pass_of(stage.forward, layers, false);
  made.backward = pass_of(stage.backward, layers, true);
  made.once = messages_of(estimate.record.once.front().messages, 1.0);
  for (const step::StageCost& cost : estimate.estimate.step.stages) {
    made.between = std::max({made.between, cost.send_forward, cost.send_backward});
  }
  made.update = estimate.estimate.step.update;
  made.step = estimate.estimate.step.step;
  return made;
}

}  // namespace sextant::tests
