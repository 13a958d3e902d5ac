// What each range of a rank's host says by its name, and by what it has inside it (signals.h).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "metrics/signals.h"
#include "metrics/view.h"

namespace sextant::metrics {

inline constexpr std::uint8_t kNoSignal = kSignals;  // after all signals: the most specific wins

// What is copied to print it or to decide by it, not to keep it: the size up to which the driver
// stages a copy in one piece. Source: CUDA Runtime API, "API synchronization behavior" (64 KB).
inline constexpr double kSmallCopyBytes = 65'536.0;

// What a range has inside it.
enum Inside : std::uint8_t {
  kLaunches = 1,         // calls that started work
  kPageable = 2,         // copies in from memory that is not pinned
  kCopiesOut = 4,        // copies out
  kWaits = 8,            // calls that wait for the device
  kFrees = 16,           // memory given back
  kRetries = 32,         // and asked for after that
  kFirst = 64,           // the first launch of a kernel in the recording
  kCopiesMuchOut = 128,  // copies out of more than kSmallCopyBytes
};

// What a label means to the timeline, told once for all its spans.
struct LabelSign {
  bool is_skipped = true;   // says nothing of what the host was at
  bool is_frame = false;    // a function that the profiler records around what it calls
  bool is_outline = false;  // a range that a person or framework draws: a name, no cause
  bool is_operator = false;
  bool is_update = false;
  bool is_reading = false;
  bool is_copying = false;
  bool is_release = false;
  bool is_request = false;
  std::uint8_t signal = kNoSignal;
};

struct HostSigns {
  std::vector<LabelSign> of_label;
  std::vector<std::uint8_t> inside;  // by number of a span: Inside
  // By label: how many there are, and how many last kLongHostNs.
  std::vector<std::pair<std::int64_t, std::int64_t>> seen;

  // Such calls take microseconds: one in ten at most lasts long.
  [[nodiscard]] bool is_rarely_long(std::size_t label) const {
    return seen[label].first >= 10 * seen[label].second;
  }
};
HostSigns host_signs(const View& view, const RankLanes& rank,
                     const std::vector<timeline::LaneId>& threads);

// What a copy is, as recorders name them.
bool is_copy_in(const timeline::Label& label);   // from the host's memory
bool is_copy_out(const timeline::Label& label);  // to the host's memory
bool is_pageable_copy(const timeline::Label& label);

}  // namespace sextant::metrics
