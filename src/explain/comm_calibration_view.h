// What `sextant calibrate` says about constants of links and networks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "describe/assumption.h"
#include "explain/provenance.h"
#include "explain/style.h"
#include "measured/comm_groups.h"

namespace sextant::explain {

// Errors are means of |predicted / measured − 1| of times: with the constants before, and with the
// file as it will be read.
struct CommSizeChange {
  measured::SizeBucket size = measured::SizeBucket::kBelow32KB;
  std::int64_t timings = 0;
  double before = 0.0;
  double after = 0.0;
};
struct CommKeyChange {
  std::string key;     // "simple.hop"
  std::string before;  // "22.22 us"
  std::string after;
  std::int64_t timings = 0;  // that speak of it; 0: fewer than three do, or it is never fitted
  bool fitted = false;       // false: it stays
};

// One file of data/comm.
struct CommClassChange {
  std::string file;  // "comm/links/nvlink4.toml"
  std::string name;  // "NVLink 4, NVSwitch"
  std::int64_t timings = 0;
  std::int64_t systems = 1;
  double before = 0.0;
  double after = 0.0;
  std::vector<CommSizeChange> sizes;  // those with timings, smallest first
  std::vector<CommKeyChange> keys;    // all of the file
};

struct CommCalibrationAnswer {
  Provenance provenance;
  std::string cluster;  // "2xdgx-h100"; "" where tables name their systems
  std::vector<CommClassChange> classes;
  std::vector<std::pair<std::string, std::int64_t>> unused;  // why, and how many timings
  describe::Assumptions assumed;
  std::vector<std::string> warnings;  // in JSON only: callers print them as notes
};

// JSON has everything; CSV the errors by size alone; tables leave out keys that no timing is of.
std::string to_text(const CommCalibrationAnswer& answer, const Style& style);

}  // namespace sextant::explain
