// Pasted nccl-tests output as the fit of links and networks takes it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/inputs.h"
#include "cost/calibrate/comm_fit.h"
#include "describe/assumption.h"
#include "describe/cluster/cluster.h"

namespace sextant::calibrate {

// Every timing is a call of its own, out-of-place and in-place; a table is a run. Models are not
// set yet.
struct NcclCalls {
  std::vector<cost::TimedCollective> inside;   // groups within one scale-up domain
  std::vector<cost::TimedCollective> across;   // groups over several
  std::map<std::string, std::int64_t> unused;  // why, and how many timings
  describe::Assumptions assumed;
  std::vector<std::string> warnings;
};

// Where the ranks of a table lie on the cluster: on the hosts it names, a domain of several hosts
// filled before the next; without hosts, rank by rank. An Error where the cluster is too small, or
// the table has more ranks on a host than its nodes have devices.
// REQUIRES: the table's ranks are known.
Result<cost::GroupShape> shape_on(const measured::NcclTable& table,
                                  const describe::Cluster& cluster);

// Left out, with the reason: tables whose operation or ranks cannot be told, one rank, several
// domains in one host (PCIe servers: what joins these is neither links nor network), lines with
// wrong results or whose numbers contradict each other.
Result<NcclCalls> nccl_calls(std::span<const NcclText> texts, const describe::Cluster& cluster);

}  // namespace sextant::calibrate
