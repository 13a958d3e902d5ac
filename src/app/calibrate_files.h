// How `sextant calibrate` writes files.
#pragma once

#include <string>

#include "base/result.h"

namespace sextant::app {

// Writes a file and the folders it lies in.
Result<void> write_with_folder(const std::string& file, const std::string& text);

}  // namespace sextant::app
