// What somebody asks of a case's meshes beside the case itself: axes that keep a size, meshes of
// their own that are to be judged too, meshes to choose among. And files of such choices: a layout
// or a mesh a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agents/mesh_axes.h"
#include "base/result.h"

namespace sextant::agents {

struct AxisPin {
  CaseAxis axis = CaseAxis::kModel;
  std::int64_t size = 1;
};

struct CaseWishes {
  std::vector<AxisPin> pins = {};
  std::vector<CaseMesh> ideas = {};
  std::vector<CaseMesh> among = {};  // empty: all legal ones

  // Does it keep the pinned axes?
  [[nodiscard]] bool allows(const CaseMesh& mesh) const;
};

// "data=16,seq=4,model=8"; an axis that is not named is of one. `where` names the parameter or the
// line in errors.
Result<CaseMesh> parse_case_mesh(std::string_view text, std::string_view where);
// "model=8,seq=4"
Result<std::vector<AxisPin>> parse_axis_pins(std::string_view text, std::string_view where);

// One choice of a file, and where it stands.
struct Candidate {
  std::string text;
  std::string where;  // "layouts.txt:3"
};
inline constexpr std::size_t kMostCandidates = 1'000;

// A choice a line; empty lines and what follows a '#' are left out, and so is a line that says the
// same again. Any bytes end in a list of at least one, or in an Error with file and line.
Result<std::vector<Candidate>> read_candidates(std::string_view text, std::string_view where);

}  // namespace sextant::agents
