// What a device draws while a step runs, as shares of its power limit (data/power.toml).
#pragma once

#include "base/result.h"
#include "describe/data_store.h"
#include "describe/sourced.h"

namespace sextant::describe {

struct DrawFacts {
  Sourced<double> computing;  // kernels of a layer run
  Sourced<double> waiting;    // for messages, other stages or the host
};

Result<DrawFacts> draw_facts(const DataStore& data);

}  // namespace sextant::describe
