// A proposal with its verdict as JSON: included by the .cc files of explain only.
#pragma once

#include "agents/report.h"
#include "explain/json.h"

namespace sextant::explain {

Json judged_json(const agents::Judged& judged);

}  // namespace sextant::explain
