// Kernel facts of a device: what `sextant calibrate` does with tables of timed kernels.
#pragma once

#include <string>

#include "app/answered.h"
#include "app/context.h"
#include "base/result.h"
#include "calibrate/inputs.h"
#include "explain/calibration_view.h"

namespace sextant::app {

struct KernelOptions {
  std::string device;      // whose timings they are
  std::string write_file;  // the kernel file; "" = not written
};

// An Error where no row is a kernel that is known, or the device is not.
Result<Answered<explain::CalibrationAnswer>> calibrate_kernels(const calibrate::Inputs& tables,
                                                               const KernelOptions& options,
                                                               const Context& context);

}  // namespace sextant::app
