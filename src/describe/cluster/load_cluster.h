// Devices, systems and fabrics from data/, and clusters from a word or a cluster.toml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/cluster/cluster.h"
#include "describe/data_store.h"

namespace sextant::describe {

Result<Device> load_device(std::string_view word, const DataStore& data);
Result<System> load_system(std::string_view word, const DataStore& data);
// A fabric id or alias ("ib-ndr", "roce"), or FAMILY-GBITS per NIC ("ib-200").
Result<Fabric> load_fabric(std::string_view word, const DataStore& data);

// CLUSTER as users write it: COUNTxDEVICE[@FABRIC], COUNTxSYSTEM, a TPU slice (v5p-512, 4xv5e-256),
// or a cluster.toml (a word that contains '/' or ends in ".toml").
Result<Cluster> load_cluster(std::string_view word, const DataStore& data);

// One cluster.toml, already read; errors carry line and column.
Result<Cluster> parse_cluster_toml(std::string_view text, std::string_view where,
                                   const DataStore& data);

// `devices` of a device in its reference system, as load_cluster does for "COUNTxDEVICE".
Result<Cluster> reference_cluster(std::int64_t devices, const Device& device,
                                  const DataStore& data);

// Replaces the network between nodes: rate from the fabric, NIC count kept (one a device if
// unknown).
void use_fabric(Cluster& cluster, const Fabric& fabric);

}  // namespace sextant::describe
