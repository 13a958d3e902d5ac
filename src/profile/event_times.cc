#include "profile/event_times.h"

#include "timeline/timeline.h"

namespace sextant::profile {

std::optional<EventTimes> event_times(const RawValue& start, const RawValue& duration,
                                      UnreadCounts& unread) {
  constexpr std::int64_t kFar = timeline::Timeline::kFarthestNs;
  const auto from = exact_microseconds(start.text);
  const auto length = exact_microseconds(duration.text);
  if (!from) {
    unread.no_start += 1;
    return std::nullopt;
  }
  if (!length) {
    unread.no_duration += 1;
    return std::nullopt;
  }
  if (length->ns < 0) {
    unread.negative_duration += 1;
    return std::nullopt;
  }
  if (from->rounded() < -kFar || from->ns > kFar - 2 - length->ns) {
    unread.too_far += 1;
    return std::nullopt;
  }
  // Both ends are rounded, not the length: neighbours that touch stay touching.
  const std::int64_t begin = from->rounded();
  return EventTimes{begin, (*from + *length).rounded() - begin};
}

}  // namespace sextant::profile
