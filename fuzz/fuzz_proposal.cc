// A proposal of the Sharding Memory: any bytes end in one that is written and read back the same,
// or in an Error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "agents/proposal_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)sextant::agents::parse_ruling(text, "fuzz.toml");
  const auto proposal = sextant::agents::parse_proposal(text, "fuzz.toml");
  if (!proposal) {
    return 0;
  }
  const auto again =
      sextant::agents::parse_proposal(sextant::agents::proposal_text(*proposal), "again.toml");
  if (!again || *again != *proposal) {
    std::abort();
  }
  return 0;
}
