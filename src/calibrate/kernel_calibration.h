// Kernel facts of a device from tables of its timed kernels.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "calibrate/inputs.h"
#include "cost/calibrate/kernel_fit.h"
#include "describe/data_store.h"

namespace sextant::calibrate {

struct KernelCalibration {
  std::vector<std::pair<std::string, std::string>> inputs;  // read: name and SHA-256
  std::string device;
  std::string start;  // where the values before the fit come from
  // Errors by family: with the facts before, and with the file as it was written.
  std::vector<cost::FamilyError> before;
  std::vector<cost::FamilyError> after;  // the same families in the same order
  std::vector<cost::HalfSplit> halves;   // likewise
  std::vector<cost::FittedKey> keys;
  std::vector<std::pair<std::string, std::int64_t>> unused;  // why, and how many rows
  std::string file;  // data/kernels/<device>.toml as it would be read
};

// Devices that the rows name, as their tables' readers found them.
std::set<std::string> devices_of(const std::vector<measured::Row>& rows);

// An Error where no row is a kernel that is known, or the device is not.
Result<KernelCalibration> kernel_calibration(const Inputs& tables, const std::string& device,
                                             const describe::DataStore& data);

}  // namespace sextant::calibrate
