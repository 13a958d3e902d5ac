// What `sextant calibrate` says about constants of the step model and intervals of its predictions.
#pragma once

#include <string>

#include "calibrate/run_calibration.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

struct RunCalibrationAnswer {
  Provenance provenance;
  calibrate::RunCalibration made;
};

// JSON has everything; CSV the errors by source alone.
std::string to_text(const RunCalibrationAnswer& answer, const Style& style);

}  // namespace sextant::explain
