// Which findings say the same of one cause: the more particular one stands, and explains the other.
//
// A rank whose experts get most tokens comes late to every exchange: two rules see that, and one of
// them says why. An explanation holds where the particular finding is worth at least half of what
// it explains, and blames no other ranks than it. It then stands for the larger of the two costs.
#pragma once

#include <span>

#include "diagnose/finding.h"

namespace sextant::diagnose {

// Sets Finding::explained_by. Nothing explains what explains it.
void explain(std::span<Finding> findings);

}  // namespace sextant::diagnose
