// What each range of a rank's host says by its name, and by what it has inside it (signals.h).
#pragma once

#include <cstdint>
#include <vector>

#include "metrics/signals.h"
#include "metrics/view.h"

namespace sextant::metrics {

inline constexpr std::uint8_t kNoSignal = kSignals;  // after all signals: the most specific wins

// What a range has inside it.
enum Inside : std::uint8_t {
  kLaunches = 1,   // calls that started work
  kPageable = 2,   // copies in from memory that is not pinned
  kCopiesOut = 4,  // copies out
  kWaits = 8,      // calls that wait for the device
  kFrees = 16,     // memory given back
  kRetries = 32,   // and asked for after that
};

// What a label means to the timeline, told once for all its spans.
struct LabelSign {
  bool is_skipped = true;  // says nothing of what the host was at
  bool is_frame = false;
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
};
HostSigns host_signs(const View& view, const RankLanes& rank,
                     const std::vector<timeline::LaneId>& threads);

// What a copy is, as recorders name them.
bool is_copy_in(const timeline::Label& label);   // from the host's memory
bool is_copy_out(const timeline::Label& label);  // to the host's memory
bool is_pageable_copy(const timeline::Label& label);

}  // namespace sextant::metrics
