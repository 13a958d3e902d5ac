// What `sextant cluster` says.
#pragma once

#include <string>

#include "describe/cluster/cluster.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

struct ClusterAnswer {
  describe::Cluster cluster;
  Provenance provenance;
};

std::string to_text(const ClusterAnswer& answer, const Style& style);

}  // namespace sextant::explain
