// The text of a JSON trace, walked event by event through a window: a gigabyte passes, some hundred
// kilobytes are held. Both forms of the format, {"traceEvents": […], …} in any order of keys and
// the bare array; several documents one after another; and what is damaged: events are found again
// behind what is not JSON, and what was lost is counted.
//
// Limits: an event is at most kLongestEvent bytes; of the other values of the outer object those of
// at most kLongestValue are handed on, all are passed over at any size. Work is linear in the text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "profile/byte_source.h"
#include "profile/json_skim.h"

namespace sextant::profile {

inline constexpr std::size_t kLongestEvent = std::size_t{4} << 20U;
inline constexpr std::size_t kLongestValue = std::size_t{1} << 20U;

class TraceHandler {
 public:
  TraceHandler() = default;
  virtual ~TraceHandler() = default;
  TraceHandler(const TraceHandler&) = delete;
  TraceHandler& operator=(const TraceHandler&) = delete;
  TraceHandler(TraceHandler&&) = delete;
  TraceHandler& operator=(TraceHandler&&) = delete;

  // Slices live until the call returns. False: enough, walk no further.
  virtual bool event(const RawEvent& event) = 0;
  // A member of the outer object, but for "traceEvents".
  virtual void value(const RawValue& key, const RawValue& value) = 0;
  // The next event or value is of another document. Not called before the first.
  virtual void next_document() = 0;
};

struct TraceTextFacts {
  std::int64_t bytes = 0;
  std::int64_t events = 0;
  std::int64_t documents = 0;      // that began
  std::int64_t damaged = 0;        // places that are no JSON
  std::int64_t damaged_bytes = 0;  // passed over to find the next event
  std::int64_t too_long = 0;       // events longer than kLongestEvent
  std::int64_t cut_bytes = 0;      // of the event in which the text ends; 0: it ends between two
  bool is_complete = false;        // the last document was closed
};

// `progress(taken, size)` after each window.
Result<TraceTextFacts> walk_trace(ByteSource& source, TraceHandler& handler,
                                  const std::function<void(std::int64_t, std::int64_t)>& progress);

}  // namespace sextant::profile
