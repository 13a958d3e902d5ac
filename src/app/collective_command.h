// estimate --collective: how long one collective takes on a group of a cluster's ranks, and how
// that changes with message size, ranks, nodes, links and operation.
#pragma once

#include <string>

#include "app/answered.h"
#include "app/context.h"
#include "base/result.h"
#include "explain/collective_view.h"

namespace sextant::app {

// Words; "" where not given.
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

// An Error where links or network of the cluster are not known; the outcome is no where no point of
// a sweep is possible.
using CollectiveReply = std::variant<explain::CollectiveAnswer, explain::CollectiveSweepAnswer>;
Result<Answered<CollectiveReply>> collective(const CollectiveRequest& request,
                                             const Context& context);

}  // namespace sextant::app
