// The communication of a step as terms: by axis, then passes, then every message with what hides
// it. Included by explain's step_tree.cc only.
#pragma once

#include "explain/step_tree.h"

namespace sextant::explain {

// What of the axis is exposed in the step. REQUIRES: more than nothing is.
Term exposed_term(step::Axis axis, const step::Estimate& result, const step::StepRecord& record);

}  // namespace sextant::explain
