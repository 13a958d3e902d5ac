// What the ledger says of runs on systems that no fit has seen: constants of the step model and
// intervals fitted on half of the systems, scored on the other half, both ways.
#pragma once

#include <vector>

#include "app/run_samples.h"
#include "base/result.h"
#include "describe/data_store.h"
#include "explain/run_section.h"
#include "measured/row.h"

namespace sextant::app {

// Every other system in the order of names is the one half. Fits start in the middle of every
// range, not at values that have seen both. Empty where either half has fewer than twelve rows.
Result<std::vector<explain::RunHalf>> ledger_run_halves(const std::vector<measured::Row>& rows,
                                                        const describe::DataStore& data);
// The same of samples already prepared.
Result<std::vector<explain::RunHalf>> run_halves(const std::vector<RunSample>& samples);

}  // namespace sextant::app
