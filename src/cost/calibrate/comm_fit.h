// The constants of a kind of link or network from timed collectives (cost/calibrate/fit.h).
//
// A constant is fitted on the operations it is about; with fewer than three timings of those it
// stays as it was, as do constants that are 0 (a way that the hardware has not) and those that say
// what exists (tree gain, ranks of NVLS, rails, SHARP). Bounds are physical: shares 0.02 to 1, fill
// 0.02 to 2, rates up to the link's own, times a factor of 30 either way. Large messages count more
// than small ones, because they are what training sends: 1 below 1 MiB, 1.3, 2 and 3 from 1, 16 and
// 256 MiB on. Each run counts the same, however many sizes it has. A weak pull keeps constants near
// their start (data/comm/links/any.toml, networks/any.toml) where timings do not tell.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "cost/comm/collective_time.h"
#include "cost/comm/comm_model.h"

namespace sextant::cost {

enum class CommTimer { kLibrary, kXla, kTorch };

// One measured collective and where it ran.
struct TimedCollective {
  std::string system;  // runs of one system are left out together
  std::string run;
  describe::CollectiveOp op = describe::CollectiveOp::kAllReduce;
  Bytes bytes;
  GroupShape group;
  CommModel model;          // as known so far
  double rate_scale = 1.0;  // the device's scale-up rate over that of the link's file
  CommAlgorithm only = CommAlgorithm::kNone;     // what was forced, if anything
  CommAlgorithm without = CommAlgorithm::kNone;  // what was switched off
  CommTimer timer = CommTimer::kLibrary;
  Seconds measured;  // > 0
};
Seconds predicted(const TimedCollective& call);
// Gives the call's model the values of a file: of its links, or of its network.
void put_values(std::span<const double> values, bool links, TimedCollective& call);

// What became of the constants, in the keys' order. Values are the file's: without rate_scale.
struct CommFit {
  std::vector<double> values;
  std::vector<std::int64_t> timings;  // that speak of each; 0: it was not fitted
  double before = 0.0;                // mean |predicted / measured − 1| of all timings
  double after = 0.0;
};

// Whether fits move a constant: neither one that is 0 nor one that says what exists.
bool is_fitted(const describe::CommKey& key, double value);

// Calls share one link file, whose values `start` are, and lie within one domain.
CommFit fit_links(std::span<const TimedCollective> calls, std::span<const double> start,
                  int rounds = 10);
// Calls share one network file and lie in several domains.
CommFit fit_network(std::span<const TimedCollective> calls, std::span<const double> start,
                    int rounds = 10);

}  // namespace sextant::cost
