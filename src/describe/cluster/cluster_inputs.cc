#include "describe/cluster/cluster_inputs.h"

#include "base/sha256.h"

namespace sextant::describe {

std::vector<std::pair<std::string, std::string>> cluster_inputs(const Cluster& cluster,
                                                                const DataStore& data) {
  std::vector<std::pair<std::string, std::string>> inputs;
  for (const std::string& path :
       {"devices/" + cluster.device.id + ".toml", "systems/" + cluster.system.id + ".toml",
        "fabrics/" + cluster.fabric.id + ".toml"}) {
    if (const auto text = data.read(path)) {
      inputs.emplace_back(data.where(path), sha256_hex(*text));
    }
  }
  return inputs;
}

}  // namespace sextant::describe
