// Pasted nccl-tests output: any bytes end in tables or an Error, and what is returned can be used.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "measured/nccl_tests.h"

namespace {

bool is_usable(const sextant::measured::NcclTiming& timing) {
  return timing.time.base() > 0.0 && std::isfinite(timing.time.base()) &&
         timing.algbw.base() >= 0.0 && std::isfinite(timing.algbw.base()) &&
         timing.busbw.base() >= 0.0 && std::isfinite(timing.busbw.base());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tables = sextant::measured::parse_nccl_tests(text, "fuzz.txt");
  if (!tables) {
    return 0;
  }
  for (const auto& table : *tables) {
    if (table.lines.empty() || table.ranks.value_or(1) < 1 || table.groups < 1) {
      std::abort();
    }
    for (const auto& line : table.lines) {
      const bool timed = line.out_of_place || line.in_place;
      if (!timed || line.bytes.base() <= 0.0 ||
          (line.out_of_place && !is_usable(*line.out_of_place)) ||
          (line.in_place && !is_usable(*line.in_place))) {
        std::abort();
      }
    }
  }
  return 0;
}
