// CLUSTER and MODEL words (not paths): any bytes end in an answer or an Error.
#include <cstdint>
#include <string_view>

#include "describe/cluster/load_cluster.h"
#include "describe/model/load_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sextant::describe::DataStore kData;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool is_path = text.find('/') != std::string_view::npos || text == "-" ||
                       text.ends_with(".toml") || text.ends_with(".json");
  if (!is_path) {
    (void)sextant::describe::load_cluster(text, kData);
    (void)sextant::describe::load_model(text, kData);
  }
  return 0;
}
