// Start and duration of an event of a JSON trace, in whole nanoseconds; what is not whole is
// counted.
#pragma once

#include <optional>

#include "profile/decimal_time.h"
#include "profile/json_skim.h"
#include "profile/unread_counts.h"

namespace sextant::profile {

struct EventTimes {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
};

std::optional<EventTimes> event_times(const RawValue& start, const RawValue& duration,
                                      UnreadCounts& unread);

}  // namespace sextant::profile
