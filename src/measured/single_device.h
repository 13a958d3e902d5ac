// The device of tables that were measured on one and do not name it.
#pragma once

#include <string>

#include "base/result.h"
#include "describe/assumption.h"
#include "measured/readers.h"

namespace sextant::measured {

struct TableDevice {
  std::string id;
  describe::Assumption assumed;  // how it was told
};

// The device that the file's name or its folder's names ("h200/gpu_kernels.csv"); else the H200,
// the device these tables were defined on.
Result<TableDevice> table_device(const TableContext& context);

}  // namespace sextant::measured
