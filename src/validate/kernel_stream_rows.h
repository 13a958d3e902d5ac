// Rows of kernel tables that stream through memory or copy to and from the host: kinds memory,
// loss, optimizer, launch and pcie. Part of kernel_rows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cost/compute/device_model.h"
#include "describe/cluster/device.h"
#include "validate/kernel_rows.h"

namespace sextant::validate {

// What a row names, without its device.
struct KernelCall {
  std::string_view kind;
  std::string_view variant;
  const std::array<std::optional<std::int64_t>, 6>& sizes;

  // a = 0 … f = 5; 0 where the cell is empty.
  [[nodiscard]] std::int64_t size(std::size_t index) const { return sizes[index].value_or(0); }
};

// A number format as the tables spell it ("bf16", "bfloat16"), and bytes of one of its elements.
std::optional<describe::DType> table_dtype(std::string_view text);
double table_bytes(describe::DType dtype);

// False where the row is not known here.
bool add_stream_kernel(const KernelCall& row, std::optional<describe::DType> dtype,
                       const cost::DeviceModel& device, Call& call);

}  // namespace sextant::validate
