// Constants of a cluster's links and network from nccl-tests output of its own: what
// `sextant calibrate` does with that.
//
// Groups within one scale-up domain are of the cluster's link file (data/comm/links), groups over
// several of its network file (data/comm/networks). Fits start from what these files say now, so
// that constants which a few lines don't tell stay near it; the network is fitted with the links as
// fitted before it.
//
// Errors reported are those of the files as they will be read, digits cut and all.
#pragma once

#include <string>

#include "app/calibrate_files.h"
#include "app/comm_calibration.h"
#include "app/context.h"
#include "base/result.h"
#include "describe/data_store.h"

namespace sextant::app {

// An Error where the cluster is too small for what was timed, its links or network are not known,
// no kind (within a domain, over domains) has three usable timings, or one has more than 20,000.
Result<CommCalibration> nccl_calibration(const CalibrateFiles& files, const std::string& cluster,
                                         const describe::DataStore& data);

struct NcclOptions {
  std::string cluster;
  std::string write_folder;  // gets comm/links/… and comm/networks/…; "" = not written
};
Result<Output> calibrate_nccl(const CalibrateFiles& files, const NcclOptions& options,
                              const Context& context);

}  // namespace sextant::app
