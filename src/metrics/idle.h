// Why a device did nothing. Each moment of a gap has one cause, so the causes add up to the idle
// time exactly.
//
// A gap ends with a span, and that span was launched by a call on a thread. Before the call began,
// the host is the cause: blocked while that thread was inside a call that waits for the device,
// late otherwise. While the call ran: launching. After it, on the device: dependency while another
// stream of the rank worked (and a wait was recorded on this stream, where waits are recorded at
// all), else other: what the device itself takes between two kernels. No call known: unknown.
#pragma once

#include <cstdint>
#include <vector>

#include "metrics/breakdown.h"
#include "metrics/intervals.h"
#include "metrics/view.h"

namespace sextant::metrics {

struct IdleCauses {
  std::int64_t host_late_ns = 0;
  std::int64_t host_blocked_ns = 0;
  std::int64_t launching_ns = 0;
  std::int64_t dependency_ns = 0;
  std::int64_t other_ns = 0;
  std::int64_t unknown_ns = 0;

  [[nodiscard]] std::int64_t total_ns() const {
    return host_late_ns + host_blocked_ns + launching_ns + dependency_ns + other_ns + unknown_ns;
  }
  IdleCauses& operator+=(const IdleCauses& other);
  bool operator==(const IdleCauses&) const = default;
};

// A time at which none of the rank's streams runs, within the windows or between them.
struct Gap {
  Interval time;
  std::uint32_t ended_by = kNone;  // number of the span that began at its end
  std::uint32_t before = kNone;    // of the span before that on the same stream
};
// In order, from the first window's start to the last one's end.
std::vector<Gap> device_gaps(const View& view, const RankLanes& rank, const Activity& activity,
                             const std::vector<Interval>& windows);

// Of the whole device: when none of its streams runs. One for each window; its total is the
// window's Breakdown::idle_ns. What follows the last span of the recording is unknown.
std::vector<IdleCauses> device_idle(const View& view, const RankLanes& rank,
                                    const Activity& activity, const std::vector<Interval>& windows);

// Of one stream: when it does not run, whatever others do.
std::vector<IdleCauses> stream_idle(const View& view, const RankLanes& rank,
                                    const Activity& activity, timeline::LaneId stream,
                                    const std::vector<Interval>& windows);

}  // namespace sextant::metrics
