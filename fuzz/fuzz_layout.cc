// Layouts, meshes, sequences and quantities as users type them. What a layout prints reads back to
// itself.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/quantity_text.h"
#include "describe/layout/job.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/mesh.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sextant;            // NOLINT(google-build-using-namespace)
  using namespace sextant::describe;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto reading = parse_layout(text, Framework::kMegatronCore)) {
    const auto again = parse_layout(to_text(reading->layout), Framework::kOther);
    if (!again || again->layout.tp != reading->layout.tp ||
        again->layout.split != reading->layout.split ||
        again->layout.recompute != reading->layout.recompute) {
      std::abort();
    }
  }
  (void)parse_mesh(text);
  (void)parse_sequences(text);
  (void)parse_bytes(text, "fuzz");
  (void)parse_count(text, "fuzz");
  return 0;
}
