// What the ranges of the host are worth on the device: operators, annotations, NVTX ranges, Python
// functions. A range that lies in another belongs to that as well.
//
// Work is the time on the device of what was launched within the range; idle is how long the device
// stood idle before that work began. Own is what no range inside it has. Own work and own idle time
// add up, with the row of what lies outside of all ranges, to all work and idle time of the kept
// steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metrics/breakdown.h"
#include "metrics/steps.h"
#include "metrics/view.h"

namespace sextant::metrics {

struct RangeRow {
  std::string name;        // a step's number is left out: "ProfilerStep#"; "": outside of all
  std::int64_t count = 0;  // that began in kept steps
  std::int64_t work_ns = 0;
  std::int64_t own_work_ns = 0;
  std::int64_t idle_ns = 0;
  std::int64_t own_idle_ns = 0;
  RangeRow& operator+=(const RangeRow& other);  // of one name
  bool operator==(const RangeRow&) const = default;
};

// Rows of one name as one; most work and idle time first, of equals by name.
std::vector<RangeRow> folded(std::vector<RangeRow> rows);

// Of a rank with a device; else nothing. `windows`: of its kept steps, in order.
std::vector<RangeRow> range_table(const View& view, const RankLanes& rank, const Steps& steps,
                                  std::size_t rank_number, const Activity& activity);

}  // namespace sextant::metrics
