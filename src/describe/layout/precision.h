// What a format of the large products means for the hardware.
#pragma once

#include <optional>

#include "describe/cluster/device.h"
#include "describe/layout/layout.h"

namespace sextant::describe {

// The unit of the device that multiplies in this format.
constexpr DType unit_of(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return DType::kFp32;
    case Precision::kTf32:
      return DType::kTf32;
    case Precision::kFp16:
      return DType::kFp16;
    case Precision::kBf16:
      return DType::kBf16;
    case Precision::kFp8:
    case Precision::kMxfp8:
      return DType::kFp8;
    case Precision::kNvfp4:
      return DType::kFp4;
    case Precision::kInt8:
      return DType::kInt8;
  }
  return DType::kFp32;
}

// What training multiplies in on a device where nobody says: bf16, where it has that, else fp16,
// else fp32; nothing where no such peak is known.
inline std::optional<DType> usual_format(const Device& device) {
  for (const DType format : {DType::kBf16, DType::kFp16, DType::kFp32}) {
    if (device.peak(format)) {
      return format;
    }
  }
  return std::nullopt;
}

// Are products fed with 8- or 4-bit copies of what they multiply?
constexpr bool is_quantised(Precision precision) {
  return precision == Precision::kFp8 || precision == Precision::kMxfp8 ||
         precision == Precision::kNvfp4 || precision == Precision::kInt8;
}

}  // namespace sextant::describe
