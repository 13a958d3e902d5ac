#include "calibrate/kernel_calls.h"

#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "validate/kernel_rows.h"
#include "validate/kernel_stream_rows.h"

namespace sextant::calibrate {
namespace {

using cost::CallTime;
using cost::ModelPair;
using cost::TimedCall;
using measured::KernelEfficiencySubject;
using measured::KernelSubject;
using workload::OpKind;

bool is_product(std::string_view kind) {
  return kind == "gemm" || kind == "bmm" || kind == "grouped";
}

// "flash" of "flash-fwd" and "flash_window_bwd".
std::string_view kernel_word(std::string_view variant) {
  return variant.substr(0, variant.find_first_of("-_"));
}

TimedCall call_of(const KernelSubject& subject, double microseconds) {
  TimedCall call;
  call.kind = subject.kind;
  call.family = subject.kind;
  call.measured = microseconds * 1_us;
  if (is_product(subject.kind)) {
    call.family += " " + subject.dtype;
    call.format = validate::table_dtype(subject.dtype);
  } else if (subject.kind == "attention") {
    call.family += fmt::format(" {}", kernel_word(subject.variant));
  }
  if (subject.variant.ends_with("_graph")) {
    call.family += " graph";
    call.kind = "graph";
  }
  for (const auto& size : subject.sizes) {
    call.shape += fmt::format("{} ", size.value_or(0));
  }
  const bool cudnn = subject.variant.starts_with("cudnn");
  call.predict = [&subject, cudnn](const ModelPair& models) {
    const cost::DeviceModel& model = cudnn ? models.cudnn : models.flash;
    validate::Call kernels(model);
    validate::add_kernel(subject, model, kernels);
    return CallTime{kernels.total(), kernels.issue()};
  };
  return call;
}

bool is_known(const KernelSubject& subject) {
  const cost::DeviceModel any;
  validate::Call kernels(any);
  return validate::add_kernel(subject, any, kernels);
}

// An efficiency is the time that its operations take, at that share of the peak.
std::optional<TimedCall> call_of(const KernelEfficiencySubject& subject, double efficiency) {
  const auto op = validate::efficiency_operator(subject);
  if (!op || op->flops <= Flops()) {
    return std::nullopt;
  }
  TimedCall call;
  call.family = subject.op;
  call.kind = op->kind == OpKind::kAttention     ? "attention"
              : op->kind == OpKind::kGroupedGemm ? "grouped"
                                                 : "gemm";
  if (op->kind != OpKind::kAttention) {
    call.format = op->dtype;
  }
  for (const auto& [name, value] : subject.shape) {
    call.shape += fmt::format("{}={} ", name, value);
  }
  // Attention is counted without its mask: the whole square.
  const Flops counted = op->kind == OpKind::kAttention ? op->flops * 2.0 : op->flops;
  call.measured = counted / (subject.peak * efficiency);
  call.predict = [op = *op](const ModelPair& models) {
    return CallTime{cost::operator_time(op, models.cudnn).total(), Seconds()};
  };
  return call;
}

}  // namespace

KernelCalls kernel_calls(const std::vector<measured::Row>& rows) {
  KernelCalls found;
  for (const measured::Row& row : rows) {
    const auto* timed = std::get_if<KernelSubject>(&row.subject);
    const auto* efficiency = std::get_if<KernelEfficiencySubject>(&row.subject);
    if (timed == nullptr && efficiency == nullptr) {
      found.unused["not a timing of a kernel"] += 1;
    } else if (row.measured <= 0.0) {
      found.unused["measured as 0"] += 1;
    } else if (timed != nullptr && !is_known(*timed)) {
      found.unused[fmt::format("kernel {} {} {} is not modelled", timed->kind, timed->variant,
                               timed->dtype)] += 1;
    } else if (timed != nullptr) {
      found.calls.push_back(call_of(*timed, row.measured));
    } else if (auto call = call_of(*efficiency, row.measured)) {
      found.calls.push_back(std::move(*call));
    } else {
      found.unused[fmt::format("kernel {} is not modelled", efficiency->op)] += 1;
    }
  }
  return found;
}

}  // namespace sextant::calibrate
