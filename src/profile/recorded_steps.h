// Steps as marks of a profile give them, in the order that a Recording has.
#pragma once

#include <vector>

#include "timeline/recording.h"

namespace sextant::profile {

// By rank, then start. A step marked by several threads is the one that begins first; where one
// begins before the one before it ends, that ends there.
std::vector<timeline::RecordedStep> ordered_steps(std::vector<timeline::RecordedStep> marks);

}  // namespace sextant::profile
