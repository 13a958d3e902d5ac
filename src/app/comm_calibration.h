// Files of data/comm that a calibration made: what is said of them, and how they are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/calibrate_files.h"
#include "app/comm_refit.h"
#include "app/context.h"
#include "base/result.h"
#include "cost/calibrate/comm_fit.h"
#include "describe/data_store.h"
#include "explain/comm_calibration_view.h"

namespace sextant::app {

struct CommCalibration {
  struct File {
    std::string path;  // below a folder of data: "comm/links/nvlink4.toml"
    std::string text;
  };
  explain::CommCalibrationAnswer answer;
  std::vector<File> files;  // of answer.classes, in their order
};

void add_change(CommChange change, CommCalibration& made);
// Names the files read and the ones that fits started from.
void put_provenance(const CalibrateFiles& files, const describe::DataStore& data,
                    CommCalibration& made);

// Why timings were left out, and how many.
using Unused = std::map<std::string, std::int64_t>;
// "; 4 left out: the result was wrong; …"
std::string unused_text(const Unused& unused);

inline constexpr std::size_t kFewestTimings = 3;
// Empties the list where it is shorter than that.
void leave_out_few(std::string_view kind, std::vector<cost::TimedCollective>& calls,
                   Unused& unused);

// Where --write points: an Error for the name of a file.
Result<void> check_folder(const std::string& folder);
// The answer; with a folder, the files below it and how to use them.
Result<Output> output_of(const CommCalibration& made, const std::string& folder,
                         const Context& context);

}  // namespace sextant::app
