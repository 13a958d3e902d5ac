// What `sextant calibrate` says about constants of links and networks.
#pragma once

#include <string>

#include "calibrate/comm_calibration.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

struct CommCalibrationAnswer {
  Provenance provenance;
  calibrate::CommCalibration made;
};

// JSON has everything; CSV the errors by size alone; tables leave out keys that no timing is of.
std::string to_text(const CommCalibrationAnswer& answer, const Style& style);

}  // namespace sextant::explain
