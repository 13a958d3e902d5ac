// Constants of links and networks from tables of collectives: what `sextant calibrate` does with
// these.
//
// Fits start where those of the built-in files did, at what any links or network have
// (app/comm_calls.h), because such a table replaces what the files were made from. Each file is
// fitted and scored with the others as they are.
#pragma once

#include <string>

#include "app/calibrate_files.h"
#include "app/comm_calibration.h"
#include "app/context.h"
#include "base/result.h"

namespace sextant::app {

// Every class of links and networks that has three rows or more; an Error where none has.
Result<CommCalibration> collective_calibration(const CalibrateFiles& files,
                                               const describe::DataStore& data);

// `write_folder` gets comm/links/… and comm/networks/…; "" = not written.
Result<Output> calibrate_collectives(const CalibrateFiles& files, const std::string& write_folder,
                                     const Context& context);

}  // namespace sextant::app
