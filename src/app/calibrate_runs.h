// Constants and intervals of the step model: what `sextant calibrate` does with tables of runs.
#pragma once

#include <string>

#include "app/answered.h"
#include "app/context.h"
#include "base/result.h"
#include "calibrate/inputs.h"
#include "explain/run_calibration_view.h"

namespace sextant::app {

// `write_folder` gets step.toml, step_spread.toml and step_difference.toml; "" = not written. An
// Error where fewer than twelve runs can be predicted.
Result<Answered<explain::RunCalibrationAnswer>> calibrate_runs(const calibrate::Inputs& files,
                                                               const std::string& write_folder,
                                                               const Context& context);

}  // namespace sextant::app
