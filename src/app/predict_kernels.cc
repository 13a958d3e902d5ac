#include "app/predict_kernels.h"

#include <optional>

#include <fmt/format.h>

#include "app/kernel_rows.h"
#include "describe/cluster/load_cluster.h"

namespace sextant::app {
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

Prediction prediction_of(double value, const std::string& assumed) {
  Prediction prediction{value, std::nullopt, {}};
  if (!assumed.empty()) {
    prediction.assumed.push_back(assumed);
  }
  return prediction;
}

}  // namespace

Result<KernelPredictor::Known> KernelPredictor::known(const std::string& device,
                                                      AttentionKernel kernel) {
  const auto key = std::pair(device, kernel);
  if (const auto found = models_.find(key); found != models_.end()) {
    return found->second;
  }
  SEXTANT_TRY(const describe::Device loaded, describe::load_device(device, data_));
  SEXTANT_TRY(const describe::KernelFacts facts, describe::kernel_facts(data_, loaded));
  Known made{cost::device_model(facts, loaded, kernel), {}};
  if (facts.scaled) {
    made.assumed = fmt::format("kernels of {} scaled to {}", facts.measured_on, loaded.id);
  }
  models_.emplace(key, made);
  return made;
}

Answer KernelPredictor::operator()(const measured::Row& row) {
  if (const auto* subject = std::get_if<KernelSubject>(&row.subject)) {
    const auto device = known(subject->device, kernel_of(*subject));
    if (!device) {
      return Refusal{device.error().what};
    }
    Call call(device->model);
    if (row.quantity != "time_us" || !add_kernel(*subject, device->model, call)) {
      return Refusal{fmt::format("kernel {} {} is not modelled", subject->kind, subject->variant)};
    }
    return prediction_of(call.alone() / 1_us, device->assumed);
  }
  const auto* subject = std::get_if<KernelEfficiencySubject>(&row.subject);
  if (subject == nullptr || !subject->device) {
    return Refusal{"not modelled yet"};
  }
  const auto device = known(*subject->device, AttentionKernel::kCudnn);
  if (!device) {
    return Refusal{device.error().what};
  }
  const auto op = efficiency_operator(*subject);
  if (!op || op->flops <= Flops()) {
    return Refusal{fmt::format("kernel {} is not modelled", subject->op)};
  }
  // Attention is counted without its mask: the whole square.
  const Flops counted = op->kind == OpKind::kAttention ? op->flops * 2.0 : op->flops;
  const Seconds time = cost::operator_time(*op, device->model).total();
  return prediction_of(counted / time / subject->peak, device->assumed);
}

}  // namespace sextant::app
