// Constants of links and networks: what `sextant calibrate` does with tables of collectives and
// with nccl-tests output.
#pragma once

#include <string>

#include "app/answered.h"
#include "app/context.h"
#include "base/result.h"
#include "calibrate/inputs.h"
#include "explain/comm_calibration_view.h"

namespace sextant::app {

// `write_folder` gets comm/links/… and comm/networks/…; "" = not written.
Result<Answered<explain::CommCalibrationAnswer>> calibrate_collectives(
    const calibrate::Inputs& files, const std::string& write_folder, const Context& context);

struct NcclOptions {
  std::string cluster;
  std::string write_folder;  // likewise
};
Result<Answered<explain::CommCalibrationAnswer>> calibrate_nccl(const calibrate::Inputs& files,
                                                                const NcclOptions& options,
                                                                const Context& context);

}  // namespace sextant::app
