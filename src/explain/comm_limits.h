// What must hold of the communication model's errors, macro-averaged by system: the
// project's own targets. Shown beside the scores, never computed with.
#pragma once

#include <array>
#include <optional>

#include "measured/comm_groups.h"

namespace sextant::explain {

// In the order of measured::SizeBucket; nothing is asked of small messages alone.
inline constexpr std::array<std::optional<double>, measured::kSizeBuckets> kSizeLimits{
    std::nullopt, std::nullopt, 0.20, 0.12, 0.06};
inline constexpr double kAllSizesLimit = 0.18;
inline constexpr double kExpertLimit = 0.20;
// Systems that a fit did not see: so many times the targets above.
inline constexpr double kLeaveOneOutLimit = 1.3;

}  // namespace sextant::explain
