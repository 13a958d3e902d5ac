// The on-off pattern of a microbatch as a chart: work along the axis, bursts of bytes upon it.
#pragma once

#include <string>

#include "explain/drawing.h"
#include "workload/traffic_pattern.h"

namespace sextant::explain {

Drawing to_drawing(const workload::Pattern& pattern, const std::string& title);

}  // namespace sextant::explain
