// What the ledger says of collectives whose system no fit has seen.
#pragma once

#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "explain/comm_section.h"
#include "measured/row.h"

namespace sextant::app {

// By size, then over all sizes: macro-averages over the systems of classes that have at least two.
// Each system is predicted from a fit on the others of its class. Empty where there are no such
// rows.
Result<std::vector<explain::LeaveOneOut>> ledger_left_out(const std::vector<measured::Row>& rows,
                                                          const describe::DataStore& data);

}  // namespace sextant::app
