// Constants of the step model and intervals of its predictions from tables of measured runs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "calibrate/difference_fit.h"
#include "calibrate/inputs.h"
#include "calibrate/spread_fit.h"
#include "describe/data_store.h"

namespace sextant::calibrate {

// Errors are means of |predicted / measured − 1| of step times.
struct RunSourceChange {
  std::string source;
  std::int64_t rows = 0;
  double before = 0.0;
  double after = 0.0;
};
struct RunKeyChange {
  std::string key;
  std::string before;  // "0.65 ratio"
  std::string after;
  std::int64_t rows = 0;  // that depend on it
  bool fitted = false;    // false: too few, it stays
};
struct RunClassInterval {
  std::string name;
  double low = 1.0;  // measured / predicted
  double high = 1.0;
  std::int64_t rows = 0;
};
struct RunDifferenceClass {
  std::string name;
  double factor = 1.0;  // from ratio / factor to ratio · factor
  std::int64_t pairs = 0;
};
struct RunCalibration {
  std::vector<std::pair<std::string, std::string>> inputs;  // read: name and SHA-256
  std::int64_t rows = 0;
  double before = 0.0;  // mean over sources, a row counting at most 1
  double after = 0.0;
  std::vector<RunSourceChange> sources;
  std::vector<RunKeyChange> keys;
  std::vector<RunClassInterval> classes;
  std::vector<SpreadCoverage> coverage;  // by source, then "all"
  std::string step;                      // data/step.toml as it would be read
  std::string spread;                    // data/step_spread.toml likewise
  std::vector<RunDifferenceClass> differences;
  std::vector<DifferenceCoverage> difference_coverage;  // by source
  std::string difference;  // data/step_difference.toml likewise; "": too few pairs
};

// Fits start from the values there are now. An Error where fewer than twelve runs can be predicted.
Result<RunCalibration> run_calibration(const Inputs& files, const describe::DataStore& data);

// A file of constants with other values: in the sections that are named, the lines of value, kind
// and source are replaced; everything else stays as it is.
struct NewValue {
  std::string key;
  std::string value;  // with its unit
  std::string source;
};
std::string with_values(const std::string& file, const std::vector<NewValue>& values);

}  // namespace sextant::calibrate
