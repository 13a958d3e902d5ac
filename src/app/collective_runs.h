// Measured runs that a sweep over message sizes can be laid beside.
//
// A row matches a question where operation, ranks and the number of scale-up domains are the same,
// the device is of the same generation, one group ran, the library was free to choose, and the
// system was healthy (trust A or B). The network may be another one: the run's system says which.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "explain/bandwidth_plot.h"
#include "machine/collective_estimate.h"
#include "measured/row.h"

namespace sextant::app {

// The runs (rows of one id before '#') with bus bandwidth by size, at most six: those over the
// question's network first, then those with the most rows, then by name.
Result<std::vector<explain::BandwidthSeries>> matching_runs(
    const std::vector<measured::Row>& rows, const machine::CollectiveQuestion& question,
    const describe::DataStore& data);

struct MeasuredRuns {
  std::vector<explain::BandwidthSeries> series;
  std::pair<std::string, std::string> input;  // the table and its SHA-256
};
Result<MeasuredRuns> read_matching_runs(const std::string& table,
                                        const machine::CollectiveQuestion& question,
                                        const describe::DataStore& data);

}  // namespace sextant::app
