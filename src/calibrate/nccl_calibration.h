// Constants of a cluster's links and network from nccl-tests output of its own.
//
// Groups within one scale-up domain are of the cluster's link file (data/comm/links), groups over
// several of its network file (data/comm/networks). Fits start from what these files say now, so
// that constants which a few lines don't tell stay near it; the network is fitted with the links as
// fitted before it.
//
// Errors reported are those of the files as they will be read, digits cut and all.
#pragma once

#include <string>

#include "base/result.h"
#include "calibrate/comm_calibration.h"
#include "calibrate/inputs.h"
#include "describe/data_store.h"

namespace sextant::calibrate {

// An Error where the cluster is too small for what was timed, its links or network are not known,
// no kind (within a domain, over domains) has three usable timings, or one has more than 20,000.
Result<CommCalibration> nccl_calibration(const Inputs& files, const std::string& cluster,
                                         const describe::DataStore& data);

}  // namespace sextant::calibrate
