// What is said of a case before any mesh is: its facts, its key figures, what holds the run up, and
// whose traffic its operators wait for.
#pragma once

#include "agents/analysis.h"
#include "agents/case_file.h"
#include "agents/mesh_slice.h"
#include "agents/mesh_traffic.h"

namespace sextant::agents {

// The mesh that was profiled: where it ran, or the baseline. Nothing where none is known to run.
std::optional<CaseMesh> recorded_mesh(const Case& profiled);

struct CaseAnalysis {
  Analysis analysis;
  Blames blames;
};
// `ran_on`: the slice it was recorded on.
CaseAnalysis analysed_case(const Case& profiled, const MeshSlice& ran_on);

}  // namespace sextant::agents
