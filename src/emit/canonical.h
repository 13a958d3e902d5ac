// One layout for one way of running: fields that mean nothing take their defaults, so that layouts
// can be compared field by field.
#pragma once

#include <cstdint>

#include "describe/layout/job.h"

namespace sextant::emit {

// The inner all-to-all group that cp_inner=0 stands for: as many ranks as a rank holds kv heads; 0
// where the model has no attention.
std::int64_t usual_cp_inner(const describe::Model& model, const describe::Layout& layout);

// The job's layout with dp as a number, "full:uniform:1" as "full", and everything that has no
// effect at its default.
describe::Layout canonical_layout(const describe::Job& job);

}  // namespace sextant::emit
