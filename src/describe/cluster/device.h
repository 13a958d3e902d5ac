// One accelerator (or CPU socket), with every number sourced.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "describe/sourced.h"
#include "describe/words.h"

namespace sextant::describe {

// Number formats with a peak rate of their own.
enum class DType { kFp64, kFp32, kTf32, kFp16, kBf16, kFp8, kFp6, kFp4, kInt8 };
inline constexpr std::array<Word<DType>, 9> kDTypeWords{{{DType::kFp64, "fp64"},
                                                         {DType::kFp32, "fp32"},
                                                         {DType::kTf32, "tf32"},
                                                         {DType::kFp16, "fp16"},
                                                         {DType::kBf16, "bf16"},
                                                         {DType::kFp8, "fp8"},
                                                         {DType::kFp6, "fp6"},
                                                         {DType::kFp4, "fp4"},
                                                         {DType::kInt8, "int8"}}};

enum class Vendor { kNvidia, kAmd, kGoogle, kIntel, kCpu };
inline constexpr std::array<Word<Vendor>, 5> kVendorWords{{{Vendor::kNvidia, "nvidia"},
                                                           {Vendor::kAmd, "amd"},
                                                           {Vendor::kGoogle, "google"},
                                                           {Vendor::kIntel, "intel"},
                                                           {Vendor::kCpu, "cpu"}}};

struct Device {
  std::string id;
  std::string name;
  Vendor vendor = Vendor::kNvidia;
  std::string generation;
  std::string reference_system;  // what is assumed when only the device is named
  std::vector<std::string> aliases;

  // Dense peaks, indexed by DType; nothing where the device has no such unit.
  std::array<std::optional<Sourced<FlopsPerSecond>>, kDTypeWords.size()> peaks;
  Sourced<Bytes> memory_capacity;
  std::optional<Sourced<Bytes>> memory_usable;  // what the driver reports; capacity otherwise
  Sourced<BytesPerSecond> memory_bandwidth;
  Sourced<Watts> power_limit;
  std::optional<Sourced<std::int64_t>> compute_units;
  std::optional<Sourced<Hertz>> boost_clock;
  std::optional<Sourced<Bytes>> l2_cache;
  std::optional<Sourced<BytesPerSecond>> scale_up_bandwidth;  // per direction, all links together
  std::optional<Sourced<BytesPerSecond>> host_bandwidth;      // per direction
  std::optional<Sourced<std::int64_t>> ici_links;             // TPU
  std::optional<Sourced<BytesPerSecond>> ici_link_bandwidth;  // per link and direction

  [[nodiscard]] const std::optional<Sourced<FlopsPerSecond>>& peak(DType dtype) const {
    return peaks[static_cast<std::size_t>(dtype)];
  }
  [[nodiscard]] Bytes usable_memory() const {
    return memory_usable ? memory_usable->value : memory_capacity.value;
  }
};

}  // namespace sextant::describe
