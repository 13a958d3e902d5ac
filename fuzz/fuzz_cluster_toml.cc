// cluster.toml: any bytes end in a cluster or an Error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "describe/cluster/load_cluster.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sextant::describe::DataStore kData;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto cluster = sextant::describe::parse_cluster_toml(text, "fuzz.toml", kData);
  if (cluster && (cluster->nodes() < 1 || cluster->domains() < 1)) {
    std::abort();
  }
  return 0;
}
