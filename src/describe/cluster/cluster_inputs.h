// What an answer about a cluster was made from.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "describe/cluster/cluster.h"
#include "describe/data_store.h"

namespace sextant::describe {

// The files of data/ that describe the cluster, with their SHA-256.
std::vector<std::pair<std::string, std::string>> cluster_inputs(const Cluster& cluster,
                                                                const DataStore& data);

}  // namespace sextant::describe
