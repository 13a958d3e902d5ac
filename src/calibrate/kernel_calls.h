// Rows of kernel tables as calls that constants can be fitted on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cost/calibrate/kernel_fit.h"
#include "measured/row.h"

namespace sextant::calibrate {

struct KernelCalls {
  std::vector<cost::TimedCall> calls;          // they point into the rows
  std::map<std::string, std::int64_t> unused;  // reason → rows that are not among them
};

// The rows of tables of timed kernels and of kernel efficiencies; others are unused. Calls replayed
// from CUDA graphs are scored and fit nothing (kind "graph"): the facts are of calls one by one.
// `rows` must outlive the answer.
KernelCalls kernel_calls(const std::vector<measured::Row>& rows);

}  // namespace sextant::calibrate
