// The cluster of a runs row: the device's reference system with the row's own numbers over it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "describe/assumption.h"
#include "describe/cluster/cluster.h"
#include "measured/hardware.h"
#include "measured/run_cells.h"

namespace sextant::measured {

struct RunCluster {
  std::optional<describe::Cluster> cluster;  // nothing: see refusal
  std::string refusal;
  describe::Assumptions assumed;
};

// A device or a fabric that data/ does not know refuses the row; a broken data file is an Error.
Result<RunCluster> run_cluster(const RunCells& run, Hardware& hardware);

}  // namespace sextant::measured
