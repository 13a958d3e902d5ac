// The generators behind generate.h, one a family. Each REQUIRES a shape that action_table has
// checked.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "schedule/actions.h"
#include "schedule/generate.h"

namespace sextant::schedule {

using Actions = std::vector<Action>;

inline Action action(ActionKind kind, std::int64_t stage, std::int64_t microbatch) {
  return {kind, false, static_cast<std::int32_t>(stage), static_cast<std::int32_t>(microbatch)};
}

// Microbatches that pass through a chunk in one go; an Error where they cannot be dealt so.
Result<std::int64_t> group_of(const ScheduleShape& shape);

// Interleaved 1F1B and interleaved zero bubble. REQUIRES: group from group_of.
Actions interleaved_actions(const ScheduleShape& shape, std::int64_t group, std::int64_t rank);

Actions zbv_actions(const ScheduleShape& shape, std::int64_t rank);
Actions dualpipe_v_actions(const ScheduleShape& shape, std::int64_t rank);
Actions dualpipe_actions(const ScheduleShape& shape, std::int64_t rank);

}  // namespace sextant::schedule
