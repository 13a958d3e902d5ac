// What a rank did itself between its communications, and what of it was what: the compute, the
// copies, the loading of data and the lateness of the host that bring it to a collective when they
// do. What it spent waiting inside communications is none of it.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "metrics/steps.h"
#include "metrics/view.h"

namespace sextant::metrics {

// A stretch of a rank's time, on the clock of the source. Its parts add up to what it took of the
// rank's own time: at most its length, less where the rank stood inside a communication with
// nothing else to do.
struct OwnWork {
  std::int64_t step = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  // Of an operation of a whole job's trace: its lane, and its name's place in RankSummary::names.
  std::int64_t lane = 0;
  std::uint32_t name = kNone;
  std::int64_t compute_ns = 0;  // a kernel ran, or an operator on a rank of CPUs
  std::int64_t copy_ns = 0;     // a copy ran and nothing computed
  std::int64_t data_ns = 0;     // nothing ran, and the host loaded data
  std::int64_t host_ns = 0;     // nothing ran: the host was late, was blocked, or launched
  std::int64_t other_ns = 0;    // nothing ran, for another reason or none that is known
  // A kernel ran through its start: it waited for nothing that ended there.
  bool goes_on = false;

  [[nodiscard]] std::int64_t total_ns() const {
    return compute_ns + copy_ns + data_ns + host_ns + other_ns;
  }
  auto operator<=>(const OwnWork&) const = default;
};

// Of the kept steps' windows, cut where a communication of the rank starts or ends, between two
// kernels of the main stream: before the one that runs when it starts, after the one that runs when
// it ends. Stretches of nothing are left out. By step, then start. n log n in the communications.
std::vector<OwnWork> own_work(const View& view, const RankLanes& rank, const RankSteps& steps);

// Of a whole job's trace, whose spans are operations ("forward-compute"): one for each that is no
// communication, in no order. `names` holds a place for each label.
std::vector<OwnWork> own_operations(const View& view, const RankLanes& rank, const Steps& steps,
                                    const RankSteps& of_rank,
                                    const std::vector<std::uint32_t>& names);

}  // namespace sextant::metrics
