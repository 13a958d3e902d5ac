// What the tests of fits share: the built-in data.
#pragma once

#include "describe/data_store.h"

namespace sextant::calibrate {

inline const describe::DataStore& built_in_data() {
  static const describe::DataStore kData;
  return kData;
}

}  // namespace sextant::calibrate
