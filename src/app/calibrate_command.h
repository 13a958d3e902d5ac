// calibrate: kernel facts of a device from timings of its own.
#pragma once

#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"

namespace sextant::app {

struct CalibrateRequest {
  std::vector<std::string> tables;  // of timed kernels; files and folders
  std::string device;               // whose timings they are
  std::string write_file;           // the kernel file; "" = not written
};

// An Error (exit 2) where no row is a kernel that is known, no known device is named, or a table
// cannot be read.
Result<Output> calibrate(const CalibrateRequest& request, const Context& context);

}  // namespace sextant::app
