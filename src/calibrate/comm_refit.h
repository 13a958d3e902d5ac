// One file of data/comm with constants fitted on timed collectives, and how far it is from them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/comm_file.h"
#include "cost/calibrate/comm_fit.h"
#include "describe/data_store.h"
#include "measured/comm_groups.h"

namespace sextant::calibrate {

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

struct CommChange {
  std::string text;            // of the file
  std::vector<double> values;  // as they are read from it
  CommClassChange said;        // its errors are those of `values`
};

// The file's present constants against those of `text`. `calls` are of this file and have the
// models of the present files.
struct CommRewrite {
  std::string text;
  std::vector<std::int64_t> timings;  // that speak of each key
  std::vector<double> links = {};     // fitted ones, for networks; empty: as the calls have them
};
Result<CommChange> comm_change(const CommFile& file, const CommRewrite& made,
                               const std::vector<cost::TimedCollective>& calls,
                               const describe::DataStore& data);

// The file fitted on the calls, from what it says now. Its values say what they were fitted on and
// the error that is left.
struct CommOrigin {
  std::string names;               // of the files with the timings
  std::string cluster;             // where they were measured
  std::vector<double> links = {};  // as above
  std::string device = {};         // there
};
Result<CommChange> comm_refit(const CommFile& file, const CommOrigin& origin,
                              const std::vector<cost::TimedCollective>& calls,
                              const describe::DataStore& data);

}  // namespace sextant::calibrate
