// Constants of the step model and intervals of its predictions from tables of measured runs: what
// `sextant calibrate` does with these.
#pragma once

#include <string>

#include "app/calibrate_files.h"
#include "app/context.h"
#include "base/result.h"

namespace sextant::app {

// Fits start from the values there are now. `write_folder` gets step.toml and step_spread.toml; ""
// = not written. An Error where fewer than twelve runs can be predicted.
Result<Output> calibrate_runs(const CalibrateFiles& files, const std::string& write_folder,
                              const Context& context);

// A file of constants with other values: in the sections that are named, the lines of value, kind
// and source are replaced; everything else stays as it is.
struct NewValue {
  std::string key;
  std::string value;  // with its unit
  std::string source;
};
std::string with_values(const std::string& file, const std::vector<NewValue>& values);

}  // namespace sextant::app
