// How well half of a device's timed kernels foretell the other half.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cost/calibrate/kernel_fit.h"
#include "describe/data_store.h"
#include "measured/row.h"

namespace sextant::calibrate {

// One device's tables of kernels, fitted on half of their shapes and scored on the rest.
struct DeviceHalves {
  std::string device;
  std::vector<cost::FamilyError> errors;  // with the facts as they are
  // The same apart for calls of 20 µs and more and for those below, which the host decides.
  std::vector<cost::FamilyError> long_calls;
  std::vector<cost::FamilyError> short_calls;
  std::vector<cost::HalfSplit> halves;  // the same families in the same order
};

// One entry for each device with timed kernels or kernel efficiencies among the rows, in order of
// their names.
Result<std::vector<DeviceHalves>> device_halves(const std::vector<measured::Row>& rows,
                                                const describe::DataStore& data);

}  // namespace sextant::calibrate
