// What is said of files that a calibration writes.
#pragma once

#include <string>

namespace sextant::app {

// How the files below a folder of data come into use; "": this folder.
std::string use_text(const std::string& folder);

}  // namespace sextant::app
