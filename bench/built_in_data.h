// The data that is built into the program, opened once.
#pragma once

#include "describe/data_store.h"

namespace sextant::bench {

inline const describe::DataStore& built_in_data() {
  static const describe::DataStore kData;
  return kData;
}

}  // namespace sextant::bench
