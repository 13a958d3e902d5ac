// estimate --collective: how long one collective takes on a group of a cluster's ranks, and how
// that changes with message size, ranks, nodes, links and operation.
#pragma once

#include <string>

#include "app/context.h"
#include "app/estimate_command.h"
#include "base/result.h"

namespace sextant::app {

// Words of the command line; "" where not given.
struct CollectiveRequest {
  std::string collective;  // describe::kCollectiveOpWords
  std::string cluster;
  std::string bytes;      // "": 1 GiB
  std::string ranks;      // "": all devices, every stride-th of them
  std::string stride;     // "": 1
  std::string sweep;      // parse_collective_sweep; "": one answer
  std::string plot_file;  // SVG or PNG of the sweep
  std::string measured;   // a table of measured collectives, for a sweep of bytes
  bool verbose = false;   // constants with their sources
};

// An Error (exit code 2) where links or network of the cluster are not known; exit code 1 where no
// point of a sweep is possible.
Result<Output> show_collective(const CollectiveRequest& request, const Context& context);

// `estimate` as it is typed: a MODEL or a collective, never both. An Error where neither or both
// are given, or where an option belongs to the other.
Result<Output> show_estimate_or_collective(const EstimateRequest& job,
                                           const CollectiveRequest& collective,
                                           const Context& context);

}  // namespace sextant::app
