// A run of several ranks made up, event by event: each rank is a program of its host (calls that
// launch work, ranges, waits) and of its streams, and what one rank does delays the others only
// through their collectives. What is right about such a run is known, since it can be run again
// without what was put into it.
//
// A host goes through its calls one after another. Work starts when the work before it on its
// stream is done, its call is through and all that it comes after is done. A collective, or a
// message, begins on each member by itself and ends on all of them at once: when the last has begun
// and its transfer is over.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/collective.h"
#include "base/units.h"
#include "timeline/label.h"

namespace sextant::tests {

struct MadeGroup {
  std::string name;         // "17": PyTorch counts them
  std::string description;  // "TENSOR_MODEL_PARALLEL_GROUP"
  std::vector<int> ranks;
};

// One collective of a group, or one message between two ranks of it.
struct MadeCollective {
  std::size_t group = 0;
  CollectiveOp op = CollectiveOp::kAllReduce;
  std::int64_t in_elements = 0;  // of each member
  std::int64_t out_elements = 0;
  std::string element = "BFloat16";
  std::vector<int> members;  // of a message: sender, receiver
  Seconds transfer;
};

struct MadeWork {
  int stream = 7;
  timeline::SpanKind kind = timeline::SpanKind::kCompute;
  std::string name = {};
  Seconds takes = {};  // of a collective nothing: it is told by its members
  std::optional<std::size_t> collective = std::nullopt;  // in MadeRun::collectives
  std::int64_t sequence = 0;                             // as this rank counts it
  std::int64_t bytes = 0;                                // of a copy
  int step = 0;
  std::vector<std::size_t> after = {};  // works of this rank
  Seconds start = {};                   // these two: by simulate()
  Seconds end = {};
};

enum class MadeCallKind : std::uint8_t {
  kLaunch,  // starts a work
  kWait,    // until a work is done
  kOpen,    // a range begins
  kClose,   // the innermost range ends
  kPause,   // a range of its own: the host is at something else
};

struct MadeCall {
  MadeCallKind kind = MadeCallKind::kLaunch;
  std::string category = {};
  std::string name = {};
  Seconds takes = {};
  std::size_t work = 0;
  Seconds start = {};  // these two: by simulate(); of an opened range its end, too
  Seconds end = {};
};

struct MadeRank {
  std::vector<MadeCall> calls;
  std::vector<MadeWork> works;  // in the order of their launches
  // The clock of its recorder beside the true one.
  Seconds clock_offset;
  double clock_drift = 0.0;
};

struct MadeRun {
  std::vector<MadeRank> ranks;
  std::vector<MadeGroup> groups;
  std::vector<MadeCollective> collectives;
};

// Fills in when everything was. False where ranks wait for one another forever: the programs don't
// fit each other.
bool simulate(MadeRun& run);

}  // namespace sextant::tests
