// Files of data/comm that a calibration made, and what is said of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "calibrate/comm_refit.h"
#include "calibrate/inputs.h"
#include "cost/calibrate/comm_fit.h"
#include "describe/assumption.h"
#include "describe/data_store.h"

namespace sextant::calibrate {

struct CommCalibration {
  struct File {
    std::string path;  // below a folder of data: "comm/links/nvlink4.toml"
    std::string text;
  };
  std::vector<std::pair<std::string, std::string>> inputs;  // read: name and SHA-256
  std::string cluster;  // "2xdgx-h100"; "" where tables name their systems
  std::vector<CommClassChange> classes;
  std::vector<File> files;                                   // of the classes, in their order
  std::vector<std::pair<std::string, std::int64_t>> unused;  // why, and how many timings
  describe::Assumptions assumed;
  std::vector<std::string> warnings;  // of what the timings do not fit
};

void add_change(CommChange change, CommCalibration& made);
// Names the files read and the ones that fits started from.
void put_inputs(const Inputs& files, const describe::DataStore& data, CommCalibration& made);

// Why timings were left out, and how many.
using Unused = std::map<std::string, std::int64_t>;
// "; 4 left out: the result was wrong; …"
std::string unused_text(const Unused& unused);

inline constexpr std::size_t kFewestTimings = 3;
// Empties the list where it is shorter than that.
void leave_out_few(std::string_view kind, std::vector<cost::TimedCollective>& calls,
                   Unused& unused);

}  // namespace sextant::calibrate
