// Collectives whose system no fit has seen.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "measured/row.h"

namespace sextant::calibrate {

// What one kind of rows scores when their systems were fitted, and when each system was predicted
// from a fit on all others.
struct LeaveOneOut {
  std::string name;   // a size bucket's words, "all sizes", "expert all-to-all"
  double seen = 0.0;  // macro-averages: 0.1 is 10 %
  double unseen = 0.0;
};

// By size, then over all sizes: macro-averages over the systems of classes that have at least two.
// Each system is predicted from a fit on the others of its class. Empty where there are no such
// rows.
Result<std::vector<LeaveOneOut>> systems_left_out(const std::vector<measured::Row>& rows,
                                                  const describe::DataStore& data);

}  // namespace sextant::calibrate
