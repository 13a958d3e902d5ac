// One device as the time of its kernels depends on it: every constant resolved, plain data.
//
// Made from the facts of data/kernels and the device's datasheet by these rules:
//   rate        share × datasheet peak of the format; a format without a unit uses a wider one
//   sustained   × (watts per peak of this device / of the measured one)^exponent, never above burst
//   bandwidth   share × datasheet bandwidth
//   vector work cycles / (compute units × clock)
//   attention   share × peak × the same power rule, never above 1
// Times of launches and of the host are taken over as they are. docs/models/compute.md.
#pragma once

#include <array>

#include "base/result.h"
#include "base/units.h"
#include "describe/cluster/device.h"
#include "describe/data_store.h"
#include "describe/kernel_facts.h"
#include "describe/layout/layout.h"

namespace sextant::cost {

using SecondsPerFlop = Quantity<1, 0, -1, 0, 0>;
using SecondsPerByte = Quantity<1, -1, 0, 0, 0>;

struct ProductRate {
  SecondsPerFlop burst;   // of the whole device
  double slowdown = 0.0;  // time at the power limit over time at burst, minus one
};

// Share of that slowdown in a step that spends a part `products` of its time in products: what runs
// between them draws less power.
struct DutyModel {
  double least = 1.0;
  double slope = 0.0;
  [[nodiscard]] constexpr double share(double products) const {
    const double duty = least + slope * products;
    return duty < 1.0 ? duty : 1.0;
  }
};

struct ProductModel {
  Seconds launch;
  Seconds group_launch;  // each expert
  SecondsPerByte memory;
  double small_tile = 1.0;  // time of a 128×128 tile over half that of a 128×256 one
  double input_gradient = 1.0;
  double weight_gradient = 1.0;
  double exposed_output = 0.0;
  Seconds split;
  double split_depth = 0.0;
};

struct AttentionModel {
  Seconds launch;
  Seconds backward_launch;
  double forward = 1.0;   // time at peak over time, softmax apart
  double backward = 1.0;  // the same
  double softmax = 0.0;   // of a score, in columns at peak
  double forward_keys = 0.0;
  double backward_keys = 0.0;
  double tail = 0.0;
  double forward_rows = 128.0;
  double backward_rows = 128.0;
  double masked_forward = 1.0;
  double masked_backward = 1.0;
  double math_forward = 0.0;  // passes over fp32 scores where they are written
  double math_backward = 0.0;
  double limited = 0.0;  // share of a product's slowdown at the power limit of a step
};

// Vector arithmetic of one element, by what is done to it.
enum class VectorWork : std::uint8_t {
  kMove,
  kActivation,
  kNorm,
  kNormGradient,
  kRandom,
  kLoss,
  kLossGradient,
  kUpdate,
};
inline constexpr std::size_t kVectorWorks = 8;

struct StreamModel {
  Seconds launch;
  Seconds next_launch;  // of each further kernel of one operator
  Seconds update_launch;
  SecondsPerByte memory;
  std::array<Seconds, kVectorWorks> element;
  Seconds indexed;            // of an element
  Seconds reread;             // of an element
  double kept_columns = 0.0;  // of a row that are not read again
  double scan = 1.0;          // time at peak over time
};

struct IssueModel {
  Seconds kernel;
  Seconds elementwise;
  Seconds norm;
  Seconds norm_gradient;
  Seconds product;
  Seconds view;
  Seconds scaled_product;
  Seconds attention;
  Seconds attention_gradient;
  Seconds update;
  Seconds foreach_update;
};

struct HostCopyModel {
  Seconds launch;
  Seconds pageable_launch;
  SecondsPerByte pinned;
  SecondsPerByte pageable;
};

struct DeviceModel {
  double units = 1.0;  // compute units
  double per_unit = 1.0;
  Seconds power_ramp;
  DutyModel duty;
  std::array<ProductRate, describe::kDTypeWords.size()> rates;
  std::array<SecondsPerFlop, describe::kDTypeWords.size()> peak;
  ProductModel product;
  AttentionModel attention;
  StreamModel stream;
  IssueModel issue;
  HostCopyModel host_copy;

  [[nodiscard]] const ProductRate& rate(describe::DType dtype) const {
    return rates[static_cast<std::size_t>(dtype)];
  }
};

// An operator does not say which kernel its attention runs on, so the model of the device does:
// flash or cuDNN (others write their scores, and are products and streams).
DeviceModel device_model(const describe::KernelFacts& facts, const describe::Device& device,
                         describe::AttentionKernel attention);
Result<DeviceModel> device_model(
    const describe::DataStore& data, const describe::Device& device,
    describe::AttentionKernel attention = describe::AttentionKernel::kFlash);

}  // namespace sextant::cost
