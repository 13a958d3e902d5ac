// config.json: any bytes end in a model whose parameters can be counted, or an Error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "describe/model/load_model.h"
#include "describe/model/parameters.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sextant::describe::DataStore kData;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto model = sextant::describe::parse_hf_config(text, "fuzz.json", kData);
  if (model && sextant::describe::model_parameters(*model).total() < 0) {
    std::abort();
  }
  return 0;
}
