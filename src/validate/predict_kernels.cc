#include "validate/predict_kernels.h"

#include <optional>

#include <fmt/format.h>

#include "validate/kernel_rows.h"

namespace sextant::validate {
namespace {

using describe::AttentionKernel;
using measured::Answer;
using measured::KernelEfficiencySubject;
using measured::KernelSubject;
using measured::Prediction;
using measured::Refusal;
using workload::OpKind;

AttentionKernel kernel_of(const KernelSubject& subject) {
  return subject.variant.starts_with("cudnn") ? AttentionKernel::kCudnn : AttentionKernel::kFlash;
}

Prediction kernel_prediction(double value, const std::optional<describe::Assumption>& assumed) {
  Prediction prediction{value, std::nullopt, {}};
  if (assumed) {
    prediction.assumed.push_back(*assumed);
  }
  return prediction;
}

}  // namespace

Answer KernelPredictor::operator()(const measured::Row& row) {
  if (const auto* subject = std::get_if<KernelSubject>(&row.subject)) {
    const auto device = devices_.of(subject->device, kernel_of(*subject));
    if (!device) {
      return Refusal{device.error().what};
    }
    Call call((*device)->model);
    if (row.quantity != "time_us" || !add_kernel(*subject, (*device)->model, call)) {
      return Refusal{fmt::format("kernel {} {} is not modelled", subject->kind, subject->variant)};
    }
    return kernel_prediction(call.alone() / 1_us, (*device)->assumed);
  }
  const auto* subject = std::get_if<KernelEfficiencySubject>(&row.subject);
  if (subject == nullptr || !subject->device) {
    return Refusal{"not modelled yet"};
  }
  const auto device = devices_.of(*subject->device, AttentionKernel::kCudnn);
  if (!device) {
    return Refusal{device.error().what};
  }
  const auto op = efficiency_operator(*subject);
  if (!op || op->flops <= Flops()) {
    return Refusal{fmt::format("kernel {} is not modelled", subject->op)};
  }
  // Attention is counted without its mask: the whole square.
  const Flops counted = op->kind == OpKind::kAttention ? op->flops * 2.0 : op->flops;
  const Seconds time = cost::operator_time(*op, (*device)->model).total();
  return kernel_prediction(counted / time / subject->peak, (*device)->assumed);
}

}  // namespace sextant::validate
