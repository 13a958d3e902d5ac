// What a format of the large products means for the hardware.
#pragma once

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

// Are products fed with 8- or 4-bit copies of what they multiply?
constexpr bool is_quantised(Precision precision) {
  return precision == Precision::kFp8 || precision == Precision::kMxfp8 ||
         precision == Precision::kNvfp4 || precision == Precision::kInt8;
}

}  // namespace sextant::describe
