// What can be said of a mesh where nothing is known of the model: facts of its chips and of a mesh
// that is known to run.
//
// Refused: a product of axes that is not the number of chips, a batch that data × fsdp × replica
// do not divide, a sequence that the sequence axis does not divide. Memory is compared with the
// mesh that runs, on chips like these: what a chip holds of activations falls with the axes that
// split tokens (data, fsdp, replica, sequence; inside a layer tensor too), what it holds of weights
// and optimizer with those that split weights. Which of these a framework uses is not known, so all
// are looked at (kinds_of_load): where none rises it fits for certain; where one rises it is
// undecidable, and that one is missing. Speed is never told here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/layout/mesh.h"
#include "verify/proposal.h"
#include "verify/verdict.h"

namespace sextant::verify {

// A mesh that is known to run, and what it runs.
struct RunningMesh {
  describe::MeshAxes axes;
  std::optional<std::int64_t> batch = {};            // sequences a step
  std::optional<std::int64_t> sequence_length = {};  // tokens
};

struct MeshFacts {
  std::int64_t chips = 0;
  std::vector<std::int64_t> topology = {};  // of the slice: {8, 16}; empty: not known
  std::optional<std::int64_t> batch = {};
  std::optional<std::int64_t> sequence_length = {};
  std::optional<RunningMesh> runs = {};  // on chips of the same memory, the same model
};

// The load of a job that is cut into stages.
inline constexpr std::string_view kPipelineLoad = "pipeline stages";

// A kind of what a chip holds, on one mesh over the other's: 2.0 is twice as much.
struct Load {
  std::string what;  // "tokens a chip"
  double ratio = 1.0;
};
// Of `axes` over the mesh that runs. REQUIRES: facts.runs, sizes ≥ 1.
std::vector<Load> kinds_of_load(const MeshFacts& facts, const describe::MeshAxes& axes);

// Does it fit? Nothing: not known.
struct MeshMemory {
  std::optional<bool> fits;
  std::string why;
  std::vector<std::string> missing;
};
MeshMemory mesh_memory(const MeshFacts& facts, const describe::MeshAxes& axes);

// Why the mesh cannot run, whatever the model; nothing: it may.
struct MeshRefusal {
  Ground ground = Ground::kDevices;
  std::string why;
};
std::optional<MeshRefusal> mesh_refusal(const MeshFacts& facts, const describe::MeshAxes& axes);

// The axes of a change of the form "ici:data=8,tensor=4,sequence=2".
Result<describe::MeshAxes> proposed_axes(const Change& change);

// Rejected with why, or undecidable with what is missing: without a model nothing is accepted.
Verdict judge_mesh(const Proposal& proposal, const MeshFacts& facts);

}  // namespace sextant::verify
