// A file of layouts or meshes to choose among: any bytes end in a bounded list, of which each line
// is a mesh, a layout, or an Error; a mesh is read back as it is shown.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "agents/case_wishes.h"
#include "describe/layout/layout.h"
#include "describe/layout/layout_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto candidates = sextant::agents::read_candidates(text, "fuzz.txt");
  if (!candidates) {
    return 0;
  }
  if (candidates->empty() || candidates->size() > sextant::agents::kMostCandidates) {
    std::abort();
  }
  for (const sextant::agents::Candidate& one : *candidates) {
    sextant::describe::Layout layout;
    (void)sextant::describe::set_keys(one.text, layout);
    const auto mesh = sextant::agents::parse_case_mesh(one.text, one.where);
    if (!mesh) {
      continue;
    }
    const auto again = sextant::agents::parse_case_mesh(to_text(*mesh), "again");
    if (!again || *again != *mesh) {
      std::abort();
    }
  }
  return 0;
}
