// A case file: any bytes end in a case whose meshes fill their slices and whose numbers are finite,
// or in an Error with its file.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "agents/case_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = sextant::agents::read_case(text, "fuzz.toml");
  if (!read) {
    return read.error().where.starts_with("fuzz.toml") ? 0 : (std::abort(), 0);
  }
  const bool fills = !read->baseline || read->baseline->chips() == read->chips;
  const bool filled = !read->profiled || read->profiled->mesh.chips() == read->profiled->chips;
  if (!fills || !filled || read->chips < 1 || read->operators.size() > 100) {
    std::abort();
  }
  for (const auto& one : read->operators) {
    if (one.name.empty() || !(one.share >= 0.0 && one.share <= 1.0) ||
        !std::isfinite(one.efficiency.value_or(0.0))) {
      std::abort();
    }
  }
  (void)sextant::agents::on_topology(*read, "8x16", "fuzz");
  return 0;
}
