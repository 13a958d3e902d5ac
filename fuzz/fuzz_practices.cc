// A file of practices: any bytes end in practices with an id and a check, or an Error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kb/practice.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto practices = sextant::kb::parse_practices(text, "fuzz.toml");
  if (!practices) {
    return 0;
  }
  for (const sextant::kb::Practice& practice : *practices) {
    if (practice.id.empty() || practice.title.empty()) {
      std::abort();
    }
  }
  return 0;
}
