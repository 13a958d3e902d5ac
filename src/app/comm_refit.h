// One file of data/comm with constants fitted on timed collectives, and how far it is from them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/comm_file.h"
#include "base/result.h"
#include "cost/calibrate/comm_fit.h"
#include "describe/data_store.h"
#include "explain/comm_calibration_view.h"

namespace sextant::app {

struct CommChange {
  std::string text;               // of the file
  std::vector<double> values;     // as they are read from it
  explain::CommClassChange said;  // its errors are those of `values`
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
};
Result<CommChange> comm_refit(const CommFile& file, const CommOrigin& origin,
                              const std::vector<cost::TimedCollective>& calls,
                              const describe::DataStore& data);

}  // namespace sextant::app
