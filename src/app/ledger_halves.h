// How well half of a device's timed kernels foretell the other half, for the ledger.
#pragma once

#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "explain/calibration_view.h"
#include "measured/row.h"

namespace sextant::app {

// One entry for each device with timed kernels or kernel efficiencies among the rows, in order of
// their names.
Result<std::vector<explain::DeviceHalves>> ledger_halves(const std::vector<measured::Row>& rows,
                                                         const describe::DataStore& data);

}  // namespace sextant::app
