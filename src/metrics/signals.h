// What the host was at while its device had nothing to do: the causes that a profile of one rank
// shows, each with the moments it cost.
//
// A device that is idle because nothing was launched yet waits for the thread that launches next.
// What that thread was inside of is the cause: of ranges within one another the most specific.
// Where it was inside nothing, what the rank's other launching threads were at; where none was
// inside anything, code of the host's own between operators.
//
// A stall costs more than its own moments: the host, had it not stalled, would be further ahead by
// as long as the stall lasted, and idle moments that follow because the host launches late would be
// filled. `after_ns` counts them, up to the length of the stalls of one kind, until the host waits
// for the device for another reason, where any lead is lost. So idle_ns + copy_ns + after_ns is
// what mending it can gain at most; the moments in after_ns stand in the rows of dispatching, too.
//
// Recording operators slows the host that launches (recorder_cost.h): idle moments that would not
// be without that stand in a row of kRecorder that has no name, and in no other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/breakdown.h"
#include "metrics/spread.h"
#include "metrics/steps.h"
#include "metrics/view.h"

namespace sextant::metrics {

// The most specific first.
enum class Signal : std::uint8_t {
  kCollection,   // Python's garbage collector
  kRecorder,     // the profiler's own work; without a name: of recording each operator
  kData,         // a data loader, a range that fetches a batch
  kCompilation,  // torch.compile, XLA, modules of kernels being loaded
  kSave,         // a checkpoint is written
  kRetry,        // the allocator frees what it keeps within one operator, and asks again
  kAllocation,   // memory of the device, or pinned, is asked for or given back
  kHostUpdate,   // an optimizer that launches nothing: it runs on the host
  kCopyIn,       // a copy to the device from memory that is not pinned
  kCopyOut,      // more than a few numbers copied to the host, and what is done with it then
  kSync,         // the host waits for the device, or reads a few numbers from it
  kHeldUp,       // stood still in a call that takes microseconds: the thread had lost its core
  kDispatch,     // inside operators and calls, and the short time between them
  kPython,       // the short time between them inside functions that the profiler records
  kLatency,      // from a call to the start of its work, where the device waits for it
  kHostCode,     // a long time between operators
  kStepStart,    // the same from the start of a marked step to its first operator
  kStepEnd,      // the same from the last operator of a marked step to its end
  kPinnedIn,     // a copy to the device from pinned memory
};
inline constexpr std::size_t kSignals = 19;
std::string_view name_of(Signal signal);

// Between two operators a host that trains takes some ten microseconds, with every function
// recorded some hundreds. What takes longer than this is doing something else than launching.
inline constexpr std::int64_t kLongHostNs = 1'000'000;
inline constexpr std::size_t kMostMoments = 4;  // of a row

struct SignalRow {
  Signal signal = Signal::kDispatch;
  // "aten::item", "cudaFree", "train.py(12): save"; of dispatching the optimizer's step around it.
  // May be empty.
  std::string what;
  Spread time = {};                    // of the stalls themselves; of kDispatch and kLatency none
  std::int64_t idle_ns = 0;            // the device was idle because of it
  std::int64_t copy_ns = 0;            // the device did nothing but copy for it
  std::int64_t after_ns = 0;           // was idle afterwards because the host had been held up
  std::int64_t bytes = 0;              // that its copies carried
  std::vector<Interval> longest = {};  // of idle_ns and copy_ns, at most kMostMoments

  // Of one copy. More than a file of a summary may say stays at that: 2^53.
  void add_bytes(double more);
  [[nodiscard]] std::int64_t exposed_ns() const { return idle_ns + copy_ns; }
  SignalRow& operator+=(const SignalRow& other);  // of one signal and name
  bool operator==(const SignalRow&) const = default;
};

// Adds it to the longest, which stay in order and no more than kMostMoments.
void keep_longest(std::vector<Interval>& longest, const Interval& one);

// Rows of one signal and name as one; most exposed first, of equals by signal and name.
std::vector<SignalRow> folded(std::vector<SignalRow> rows);

// Of the kept steps of the rank. `activity` is the rank's.
std::vector<SignalRow> signal_table(const View& view, const RankLanes& rank, const Steps& steps,
                                    std::size_t rank_number, const Activity& activity);

}  // namespace sextant::metrics
