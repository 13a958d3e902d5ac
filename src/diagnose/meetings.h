// Where ranks of a job met: collectives, and messages from one rank to another.
//
// Where the source says which group and which of its collectives, that is what makes instances of
// different ranks one (metrics/summary.h). A trace of a whole job on one clock says neither: there
// the groups are found. A collective's members are inside it at one moment; so of all the ways to
// group ranks by their coordinates, those of a name are the largest groups in which this holds for
// (nearly) every occurrence. Sends and receives pair along the axis on which they overlap. No other
// clock is asked, and none across files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics/summary.h"

namespace sextant::diagnose {

// One collective or message. Members by rank.
struct Meeting {
  std::int64_t step = 0;
  std::optional<CollectiveOp> op = std::nullopt;
  std::optional<std::int64_t> bytes = std::nullopt;
  bool is_message = false;  // from one rank to another
  std::vector<metrics::SeenBy> seen;
  // From when all were there until the first was done; the shortest that any rank took where each
  // has a clock of its own.
  std::int64_t transfer_ns = 0;
};

struct Meetings {
  std::vector<Meeting> all;   // of two ranks or more; by step, then as matched
  bool shares_clock = false;  // all ranks were recorded on one clock
};

Meetings meetings_of(const metrics::Summary& summary);

// Ends of these come together on all ranks, since none can be done before all have come.
bool ends_together(const Meeting& meeting);

}  // namespace sextant::diagnose
