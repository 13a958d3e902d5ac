// What `sextant calibrate` says about constants of the step model and intervals of its predictions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

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
// Share of rows inside their interval: fitted on all rows, and on two thirds of the configurations
// without the row's own.
struct RunCoverage {
  std::string source;
  std::int64_t rows = 0;
  double seen = 0.0;
  double unseen = 0.0;
};

struct RunCalibrationAnswer {
  Provenance provenance;
  std::int64_t rows = 0;
  double before = 0.0;  // mean over sources, a row counting at most 1
  double after = 0.0;
  std::vector<RunSourceChange> sources;
  std::vector<RunKeyChange> keys;
  std::vector<RunClassInterval> classes;
  std::vector<RunCoverage> coverage;  // by source, then "all"
};

// JSON has everything; CSV the errors by source alone.
std::string to_text(const RunCalibrationAnswer& answer, const Style& style);

}  // namespace sextant::explain
