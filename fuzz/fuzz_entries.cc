// A file of entries of the knowledge base: any bytes end in entries with a source that are written
// and read back the same, or in an Error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kb/entry_text.h"
#include "kb/secrets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string clean = sextant::kb::redacted(text);
  if (sextant::kb::redacted(clean) != clean) {
    std::abort();
  }
  const auto entries = sextant::kb::parse_entries(text, "fuzz.toml");
  if (!entries) {
    return 0;
  }
  for (const sextant::kb::Entry& entry : *entries) {
    const auto again =
        sextant::kb::parse_entries(sextant::kb::entries_toml({&entry, 1}), "again.toml");
    if (entry.source.empty() || !again || again->size() != 1 || again->front() != entry) {
      std::abort();
    }
  }
  return 0;
}
