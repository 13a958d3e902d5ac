// One result line of nccl-tests and its values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measured/nccl_header.h"
#include "measured/nccl_lines.h"
#include "measured/nccl_tests.h"

namespace sextant::measured {

// What a result line gave: its values, or why there are none, and what is odd about it.
struct NcclReading {
  std::optional<NcclLine> line;
  std::vector<std::string> complaints;
};

// Reads a line by its header, else by the number of its columns. Nothing where it is no result.
std::optional<NcclReading> read_nccl_row(const NcclLines& line, const NcclHeader& header);

}  // namespace sextant::measured
