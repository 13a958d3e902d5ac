// A step's answer as JSON, for `estimate`, its sweeps and `compare`: included by explain's .cc
// files only. docs/interface.md has the keys.
#pragma once

#include "explain/estimate_view.h"
#include "explain/json.h"

namespace sextant::explain {

// From "step_time_s" to "memory".
Json step_json(const step::Estimate& result);
// The compute of one rank.
Json compute_json(const step::ComputeEstimate& estimate);
std::string estimate_json(const EstimateAnswer& answer);

}  // namespace sextant::explain
