#include "cost/compute/device_model.h"

#include <algorithm>
#include <cmath>

namespace sextant::cost {
namespace {

using describe::Device;
using describe::DType;
using describe::KernelFacts;

constexpr std::size_t at(DType dtype) {
  return static_cast<std::size_t>(dtype);
}

// The peak of the format, or of the one that stands in for it where the device has no such unit.
FlopsPerSecond peak_of(const Device& device, DType dtype) {
  const auto has = [&device](DType other) { return device.peak(other).has_value(); };
  const auto value = [&device](DType other) { return device.peaks[at(other)]->value; };
  if (has(dtype)) {
    return value(dtype);
  }
  const bool narrow = dtype == DType::kFp8 || dtype == DType::kFp6 || dtype == DType::kFp4 ||
                      dtype == DType::kInt8 || dtype == DType::kBf16 || dtype == DType::kFp16;
  if (narrow) {
    for (const DType wider : {DType::kFp8, DType::kBf16, DType::kFp16}) {
      const bool holds = wider != DType::kFp8 || (dtype != DType::kBf16 && dtype != DType::kFp16);
      if (holds && has(wider)) {
        return value(wider);
      }
    }
  }
  if (has(DType::kFp32)) {
    return value(DType::kFp32);
  }
  // Source: XLA's Precision.HIGHEST makes an fp32 product of six bf16 ones (jax.lax.Precision).
  constexpr double kPasses = 6.0;
  return has(DType::kBf16) ? value(DType::kBf16) / kPasses : FlopsPerSecond(1e12);
}

// The shares of the format, or of the nearest one that has some.
const describe::RateFacts& rate_facts(const KernelFacts& facts, DType dtype) {
  constexpr auto kKind = describe::SourceKind::kAssumed;
  static const describe::RateFacts kPeak{{1.0, kKind, "the peak"}, {1.0, kKind, "the peak"}};
  const bool eight_bits = dtype == DType::kFp6 || dtype == DType::kFp4 || dtype == DType::kInt8;
  for (const DType near : {dtype, eight_bits ? DType::kFp8 : DType::kBf16, DType::kBf16}) {
    if (const auto& shares = facts.rates[at(near)]) {
      return *shares;
    }
  }
  return kPeak;
}

// How much less (or more) power this device has for its peak than the one that was measured, as a
// factor on sustained rates.
double power_factor(const KernelFacts& facts, const Device& device) {
  const double tflops = peak_of(device, DType::kBf16) / 1_TFLOPps;
  const double watts = device.power_limit.value / 1_W;
  const double measured = facts.power.watts_per_tflops.value;
  if (watts <= 0.0 || tflops <= 0.0 || measured <= 0.0) {
    return 1.0;
  }
  return std::pow(watts / tflops / measured, facts.power.exponent.value);
}

SecondsPerByte per_byte(double share, BytesPerSecond rate) {
  const double usable = std::max(share, 1e-6) * std::max(rate.base(), 1.0);
  return SecondsPerByte(1.0 / usable);
}

void set_rates(const KernelFacts& facts, const Device& device, double power, DeviceModel& model) {
  for (std::size_t i = 0; i < model.rates.size(); ++i) {
    const auto dtype = static_cast<DType>(i);
    const double peak = peak_of(device, dtype).base();
    const describe::RateFacts& shares = rate_facts(facts, dtype);
    const double burst = shares.burst.value;
    const double sustained = std::min(burst, shares.sustained.value * power);
    model.peak[i] = SecondsPerFlop(1.0 / peak);
    model.rates[i] = {.burst = SecondsPerFlop(1.0 / (burst * peak)),
                      .slowdown = burst / sustained - 1.0};
  }
}

AttentionModel attention_of(const KernelFacts& facts, describe::AttentionKernel kernel,
                            double power) {
  const describe::AttentionFacts& from = facts.attention;
  const auto& chosen = kernel == describe::AttentionKernel::kCudnn ? from.cudnn : from.flash;
  const double limit = std::min(1.0, power) *
                       (kernel == describe::AttentionKernel::kFlash1 ? from.flash1.value : 1.0);
  return {.launch = facts.product.launch.value,
          .backward_launch = from.backward_launch.value,
          .forward = 1.0 / (chosen.forward.value * limit),
          .backward = 1.0 / (chosen.backward.value * limit),
          .softmax = from.softmax.value,
          .forward_keys = from.forward_keys.value,
          .backward_keys = from.backward_keys.value,
          .tail = from.tail.value,
          .forward_rows = static_cast<double>(from.forward_rows.value),
          .backward_rows = static_cast<double>(from.backward_rows.value),
          .masked_forward = from.masked_forward.value,
          .masked_backward = from.masked_backward.value,
          .math_forward = from.math_forward.value,
          .math_backward = from.math_backward.value,
          .limited = from.limited.value};
}

StreamModel stream_of(const KernelFacts& facts, const Device& device, double units) {
  const describe::StreamFacts& from = facts.stream;
  const double clock = device.boost_clock ? device.boost_clock->value.base() : 0.0;
  const auto time = [&](const describe::Sourced<double>& cycles) {
    return clock > 0.0 ? Seconds(cycles.value / (units * clock)) : Seconds();
  };
  return {
      .launch = from.launch.value,
      .next_launch = from.next_launch.value,
      .update_launch = from.update_launch.value,
      .memory = per_byte(from.bandwidth.value, device.memory_bandwidth.value),
      .element = {time(from.move), time(from.activation), time(from.norm), time(from.norm_gradient),
                  time(from.random), time(from.loss), time(from.loss_gradient), time(from.update)},
      .indexed = time(from.indexed),
      .reread = time(from.reread),
      .kept_columns = static_cast<double>(from.kept_columns.value),
      .scan = 1.0 / from.scan.value};
}

ProductModel product_of(const KernelFacts& facts, const Device& device) {
  const describe::ProductFacts& from = facts.product;
  return {.launch = from.launch.value,
          .group_launch = from.group_launch.value,
          .memory = per_byte(from.bandwidth.value, device.memory_bandwidth.value),
          .small_tile = 1.0 / from.small_tile.value,
          .input_gradient = from.input_gradient.value,
          .weight_gradient = from.weight_gradient.value,
          .exposed_output = from.exposed_output.value,
          .split = from.split.value,
          .split_depth = static_cast<double>(from.split_depth.value)};
}

IssueModel issue_of(const describe::IssueFacts& from) {
  return {.kernel = from.kernel.value,
          .elementwise = from.elementwise.value,
          .norm = from.norm.value,
          .norm_gradient = from.norm_gradient.value,
          .product = from.product.value,
          .view = from.view.value,
          .scaled_product = from.scaled_product.value,
          .attention = from.attention.value,
          .attention_gradient = from.attention_gradient.value,
          .update = from.update.value,
          .foreach_update = from.foreach_update.value};
}

HostCopyModel host_copy_of(const describe::HostCopyFacts& from, const Device& device) {
  const BytesPerSecond link =
      device.host_bandwidth ? device.host_bandwidth->value : device.memory_bandwidth.value;
  return {.launch = from.launch.value,
          .pageable_launch = from.pageable_launch.value,
          .pinned = per_byte(from.pinned.value, link),
          .pageable = per_byte(from.pageable.value, link)};
}

}  // namespace

DeviceModel device_model(const KernelFacts& facts, const Device& device,
                         describe::AttentionKernel attention) {
  DeviceModel model;
  const std::int64_t units = device.compute_units ? device.compute_units->value : 1;
  model.units = static_cast<double>(std::max<std::int64_t>(units, 1));
  model.per_unit = 1.0 / model.units;
  model.power_ramp = std::max(facts.power.ramp.value, 1_ns);
  model.duty = {.least = facts.power.duty_least.value, .slope = facts.power.duty_slope.value};
  const double power = power_factor(facts, device);
  set_rates(facts, device, power, model);
  model.product = product_of(facts, device);
  model.attention = attention_of(facts, attention, power);
  model.stream = stream_of(facts, device, model.units);
  model.issue = issue_of(facts.issue);
  model.host_copy = host_copy_of(facts.host_copy, device);
  return model;
}

Result<DeviceModel> device_model(const describe::DataStore& data, const Device& device,
                                 describe::AttentionKernel attention) {
  SEXTANT_TRY(const KernelFacts facts, describe::kernel_facts(data, device));
  return device_model(facts, device, attention);
}

}  // namespace sextant::cost
