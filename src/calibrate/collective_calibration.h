// Constants of links and networks from tables of collectives.
//
// Fits start where those of the built-in files did, at what any links or network have
// (calibrate/comm_calls.h), because such a table replaces what the files were made from. Each file
// is fitted and scored with the others as they are.
#pragma once

#include "base/result.h"
#include "calibrate/comm_calibration.h"
#include "calibrate/inputs.h"

namespace sextant::calibrate {

// Every class of links and networks that has three rows or more; an Error where none has.
Result<CommCalibration> collective_calibration(const Inputs& files,
                                               const describe::DataStore& data);

}  // namespace sextant::calibrate
