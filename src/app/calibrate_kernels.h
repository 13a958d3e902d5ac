// Kernel facts of a device from tables of its timed kernels: what `sextant calibrate` does with
// these.
#pragma once

#include <string>

#include "app/calibrate_files.h"
#include "app/context.h"
#include "base/result.h"

namespace sextant::app {

struct KernelOptions {
  std::string device;      // whose timings they are
  std::string write_file;  // the kernel file; "" = not written
};

// An Error where no row is a kernel that is known, or the device is not.
Result<Output> calibrate_kernels(const CalibrateFiles& tables, const KernelOptions& options,
                                 const Context& context);

}  // namespace sextant::app
