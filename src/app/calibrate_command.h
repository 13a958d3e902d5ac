// calibrate: facts of a user's own hardware from timings of its own: kernels of a device,
// collectives on its links and networks, or steps of training runs.
#pragma once

#include <string>
#include <vector>

#include "app/answered.h"
#include "app/context.h"
#include "base/result.h"
#include "explain/calibration_view.h"
#include "explain/comm_calibration_view.h"
#include "explain/run_calibration_view.h"

namespace sextant::app {

struct CalibrateRequest {
  std::vector<std::string> tables;  // files and folders, of one kind (calibrate/inputs.h)
  std::string device;               // tables of timed kernels: whose timings they are
  // Kernels: the kernel file. Collectives: the folder of comm/links and comm/networks. Runs: the
  // folder of step.toml, step_spread.toml and step_difference.toml. "" = not written.
  std::string write_file;
  std::string cluster = {};  // nccl-tests output: where it was measured (CLUSTER)
};

// Four kinds of input: tables of kernels (calibrate_kernels.h), tables of collectives and
// nccl-tests output (calibrate_comm.h), tables of runs (calibrate_runs.h). An Error where
// options are not those of the kind, nothing is usable, or a file cannot be read.
using CalibrateReply = std::variant<explain::CalibrationAnswer, explain::CommCalibrationAnswer,
                                    explain::RunCalibrationAnswer>;
Result<Answered<CalibrateReply>> calibrate(const CalibrateRequest& request, const Context& context);

}  // namespace sextant::app
