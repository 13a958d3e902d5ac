// What a kernel is for, told from its name: makers of devices and libraries call the same work
// differently, so runs on different devices are compared by this.
#pragma once

#include <cstdint>
#include <string_view>

#include "timeline/label.h"

namespace sextant::diagnose {

enum class WorkKind : std::uint8_t {
  kAttention,
  kMatrixProduct,
  kConvolution,
  kNorm,
  kSoftmaxAndLoss,
  kOptimizer,
  kIndexing,  // embeddings, gathers, scatters
  kReduction,
  kElementwise,  // copies within the device, joining and splitting too
  kCommunication,
  kCopy,  // by the copy engines
  kOther,
};
inline constexpr std::size_t kWorkKinds = 12;
std::string_view name_of(WorkKind kind);

WorkKind work_kind(std::string_view kernel, timeline::SpanKind span);

}  // namespace sextant::diagnose
