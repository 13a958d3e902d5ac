// Every model of the program behind one question: what would this row have measured?
#pragma once

#include "describe/data_store.h"
#include "measured/validate.h"

namespace sextant::validate {

// The predictor that validate uses. `data` must outlive it.
measured::Predictor predictor(const describe::DataStore& data);

}  // namespace sextant::validate
