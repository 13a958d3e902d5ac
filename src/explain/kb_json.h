// Entries of the knowledge base as JSON: included by the .cc files of explain only.
#pragma once

#include "explain/json.h"
#include "kb/entry.h"

namespace sextant::explain {

// Every key of an entry; what is not known is null.
Json entry_json(const kb::Entry& entry);

}  // namespace sextant::explain
