// An estimated collective as JSON, for both of its answers. Included by explain/'s .cc files only.
#pragma once

#include "explain/collective_view.h"
#include "explain/json.h"

namespace sextant::explain {

// The keys of docs/interface.md, from "collective" to "ways".
Json collective_json(const machine::CollectiveEstimate& estimate);

}  // namespace sextant::explain
