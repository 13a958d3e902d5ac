// The names of collective operations (base/collective.h) beside describe's other sets of words.
#pragma once

#include "base/collective.h"
#include "describe/words.h"

namespace sextant::describe {

using sextant::bus_share;
using sextant::CollectiveOp;
using sextant::kCollectiveOpWords;

}  // namespace sextant::describe
