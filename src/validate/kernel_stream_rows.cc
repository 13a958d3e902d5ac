#include "validate/kernel_stream_rows.h"

#include "workload/operator.h"

namespace sextant::validate {
namespace {

using cost::DeviceModel;
using cost::OperatorCost;
using cost::VectorWork;
using describe::DType;
using workload::Operator;
using workload::OpKind;
using workload::Pass;

constexpr double kFp32 = 4.0;
constexpr double kBf16 = 2.0;

// Elements of the row's format that a kernel reads and writes, and what it does to them.
struct StreamKernel {
  std::string_view variant;
  double read = 1.0;
  double written = 1.0;
  VectorWork vector = VectorWork::kMove;
  double kernels = 1.0;
  double indexed = 0.0;  // of an element
};
// silu_mul is two kernels (silu, then a product); dropout writes a mask of a byte an element; casts
// are of 16 bits to and from 32.
constexpr std::array<StreamKernel, 13> kStreamKernels{
    {{"copy", 1.0, 1.0},
     {"add", 2.0, 1.0},
     {"silu_mul", 3.0, 2.0, VectorWork::kActivation, 2.0},
     {"gelu", 1.0, 1.0, VectorWork::kActivation},
     {"layer_norm", 1.0, 1.0, VectorWork::kNorm},
     {"rms_norm", 1.0, 1.0, VectorWork::kNorm},
     {"layer_norm_bwd", 2.0, 1.0, VectorWork::kNormGradient},
     {"rms_norm_bwd", 2.0, 1.0, VectorWork::kNormGradient},
     {"dropout", 1.0, 1.5, VectorWork::kRandom},
     {"cast_to_fp32", 1.0, 2.0, VectorWork::kMove, 1.0, 1.0},
     {"cast_from_fp32", 2.0, 1.0},
     {"embedding", 1.0, 1.0},
     {"permute", 1.0, 1.0}}};

bool add_stream(const KernelCall& row, DType dtype, const DeviceModel& device, Call& call) {
  const auto columns = static_cast<double>(row.size(1));
  const double elements = static_cast<double>(row.size(0)) * columns;
  for (const StreamKernel& kernel : kStreamKernels) {
    if (kernel.variant == row.variant) {
      OperatorCost cost = cost::stream_time(
          {.bytes = Bytes(elements * table_bytes(dtype) * (kernel.read + kernel.written)),
           .elements = elements,
           .columns = columns,
           .indexed = elements * kernel.indexed,
           .vector = kernel.vector},
          device);
      const bool random = kernel.vector == VectorWork::kRandom;  // and a mask is allocated
      cost.launch *= kernel.kernels;
      cost.issue *= random ? 2.0 : kernel.kernels;
      call.add(cost);
      return true;
    }
  }
  return false;
}

// A loss on logits of one width, with what the workload counts for it.
void add_entropy(const Operator& logits, double width, Call& call) {
  Operator op = logits;
  op.kind = OpKind::kLoss;
  const double elements = static_cast<double>(op.m) * static_cast<double>(op.n);
  op.read = Bytes(elements * width * (op.pass == Pass::kForward ? 3.0 : 1.0));
  op.written = Bytes(elements * width);
  call.add(op);
}

// ce_*: on the logits as they are. ce_*_fp32cast: logits of 16 bits cast to fp32 first.
bool add_loss(const KernelCall& row, DType dtype, Call& call) {
  const bool cast = row.variant.ends_with("_fp32cast");
  const bool backward = row.variant == "ce_bwd" || row.variant == "ce_bwd_fp32cast";
  if (!backward && row.variant != "ce_fwd" && row.variant != "ce_fwd_fp32cast") {
    return false;
  }
  Operator op{.kind = OpKind::kCast,
              .pass = backward ? Pass::kInputGradient : Pass::kForward,
              .m = row.size(0),
              .n = row.size(1)};
  if (cast) {
    const double elements = static_cast<double>(op.m) * static_cast<double>(op.n);
    op.read = Bytes(elements * (backward ? kFp32 : kBf16));
    op.written = Bytes(elements * (backward ? kBf16 : kFp32));
    call.add(op);
  }
  add_entropy(op, cast ? kFp32 : table_bytes(dtype), call);
  return true;
}

// AdamW on parameters, gradients and moments of one format. Fused: reads four, writes three.
// Foreach: eight kernels read twelve and write eight, with the arithmetic of about two fused ones.
// Source: torch/optim/adamw.py, _multi_tensor_adamw.
bool add_optimizer(const KernelCall& row, DType dtype, const DeviceModel& device, Call& call) {
  const bool fused = row.variant == "adamw_fused";
  if (!fused && row.variant != "adamw_foreach") {
    return false;
  }
  const auto elements = static_cast<double>(row.size(0));
  OperatorCost cost =
      cost::stream_time({.bytes = Bytes(elements * table_bytes(dtype) * (fused ? 7.0 : 20.0)),
                         .elements = elements * (fused ? 1.0 : 2.0),
                         .vector = VectorWork::kUpdate},
                        device);
  if (!fused) {
    cost.launch *= device.issue.foreach_update / device.issue.update;
    cost.issue = device.issue.foreach_update;
  }
  call.add(cost);
  return true;
}

bool add_pcie(const KernelCall& row, const DeviceModel& device, Call& call) {
  const bool pinned = row.variant.ends_with("_pinned");
  if (!pinned && !row.variant.ends_with("_pageable")) {
    return false;
  }
  call.add(cost::host_copy_time(static_cast<double>(row.size(0)) * 1_MiB, pinned, device));
  return true;
}

}  // namespace

std::optional<DType> table_dtype(std::string_view text) {
  if (text == "bfloat16") {
    return DType::kBf16;
  }
  if (text == "float32") {
    return DType::kFp32;
  }
  for (const auto& [dtype, word] : describe::kDTypeWords) {
    if (word == text) {
      return dtype;
    }
  }
  return std::nullopt;
}

double table_bytes(DType dtype) {
  if (dtype == DType::kFp32 || dtype == DType::kTf32) {
    return kFp32;
  }
  return dtype == DType::kFp8 ? 1.0 : kBf16;
}

bool add_stream_kernel(const KernelCall& row, std::optional<DType> dtype, const DeviceModel& device,
                       Call& call) {
  if (row.kind == "pcie") {
    return add_pcie(row, device, call);
  }
  if (row.kind == "launch") {
    call.set_issue(device.issue.kernel);
    return row.variant == "empty_kernel";
  }
  if (!dtype) {
    return false;
  }
  if (row.kind == "memory") {
    return add_stream(row, *dtype, device, call);
  }
  if (row.kind == "loss") {
    return add_loss(row, *dtype, call);
  }
  return row.kind == "optimizer" && add_optimizer(row, *dtype, device, call);
}

}  // namespace sextant::validate
