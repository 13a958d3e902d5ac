// Memory as the tables print it: allocated, reserved or device, of the fullest rank.
#pragma once

#include "describe/data_store.h"
#include "measured/validate.h"

namespace sextant::app {

// Answers rows of memory tables and the memory and `fits` columns of runs; refuses others.
measured::Answer predict_memory(const measured::Row& row, const describe::DataStore& data);

}  // namespace sextant::app
