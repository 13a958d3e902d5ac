// Which measured runs are drawn as bandwidth against size.
//
// The rule: a plot a class of system, and in it, for each operation, the run with the most scored
// rows (of equals, the first by name) that has at least four sizes; at most five runs, those of the
// most rows. A run is the rows of one id before '#', one operation and one number of ranks. Scored
// are rows as measured/comm_scores.h has them.
#pragma once

#include <optional>
#include <vector>

#include "explain/bandwidth_plot.h"
#include "measured/row.h"
#include "measured/validate.h"

namespace sextant::explain {

// In the order of measured::CommClass. REQUIRES: `report` is validate's of `rows`.
std::vector<BandwidthPlot> bandwidth_plots(const std::vector<measured::Row>& rows,
                                           const measured::ValidationReport& report);

// `value`, in the row's quantity, as bus bandwidth: what one device sends in a ring, whatever the
// number of ranks. Of an all-reduce it is 2 (n − 1) / n of the bytes over the time, of the other
// collectives (n − 1) / n, of a message all of it. Nothing of other rows and quantities, and where
// value is not above zero.
std::optional<BytesPerSecond> bus_bandwidth(const measured::Row& row, double value);

}  // namespace sextant::explain
