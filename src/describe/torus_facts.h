// What collectives on a torus of TPUs go by (data/comm/torus.toml).
#pragma once

#include "base/result.h"
#include "base/units.h"
#include "describe/data_store.h"
#include "describe/sourced.h"

namespace sextant::describe {

struct TorusFacts {
  Sourced<double> share;  // of a link's rate that collectives reach
  Sourced<Seconds> hop;   // to the next chip
};
Result<TorusFacts> torus_facts(const DataStore& data);

}  // namespace sextant::describe
