// What `sextant calibrate` says of kernels.
#pragma once

#include <string>
#include <vector>

#include "calibrate/device_halves.h"
#include "calibrate/kernel_calibration.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

struct CalibrationAnswer {
  Provenance provenance;
  calibrate::KernelCalibration made;
};

// JSON has families, keys and unused rows; the other formats tables of them.
std::string to_text(const CalibrationAnswer& answer, const Style& style);

// A section of the ledger; "" where there is no device.
std::string halves_section(const std::vector<calibrate::DeviceHalves>& devices);

}  // namespace sextant::explain
