// What was not read, in JSON: included by explain's .cc files only.
#pragma once

#include <vector>

#include "explain/diagnose_view.h"
#include "explain/json.h"

namespace sextant::explain {

Json unread_json(const std::vector<DiagnosedLoss>& unread);

}  // namespace sextant::explain
