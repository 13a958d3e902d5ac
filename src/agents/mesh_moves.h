// Which meshes are worth a try, from one that is known to run, and in which order.
//
// Without the model's shape nothing is known of a mesh far from those that ran. So a move hands a
// factor of one axis to another; on a slice of another size axes give up (or take) what the chips
// changed by, and at most one doubling more. What it may relieve is what operators of the profile
// wait for (mesh_traffic.h). An axis is lengthened only where what bounds it is known: data by the
// batch, seq by the sequence length, model by the links.
//
// The score is a product of named factors, all of which a proposal shows:
//   relief      share of the told operators' time that the move frees; on another slice 1 + that
//   distance    a half for each doubling beyond the first: the further, the less the profile says
//   torus       a half where axes share a side: a line takes twice as long as a ring
//   memory      the chance that it fits, were the used share of memory anything alike: 1 over what
//               a chip holds more, mean of what may fill it (mesh_loads)
//   tokens      where activations fill a chip (long sequences, at most one a part of the batch):
//               1 over the tokens a chip holds more
// Of equal ones the first has fewer chips in groups that exchange something in every layer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agents/case_file.h"
#include "agents/case_wishes.h"
#include "agents/mesh_axes.h"
#include "agents/mesh_slice.h"
#include "agents/mesh_traffic.h"
#include "diagnose/finding.h"
#include "verify/mesh_facts.h"

namespace sextant::agents {

struct MoveFacts {
  const Case& profiled;
  const MeshSlice& slice;
  CaseMesh from;  // known to run
  const Blames& blames;
  diagnose::Bottleneck bottleneck = diagnose::Bottleneck::kCompute;
  double memory_scale = 1.0;  // memory of a chip where it ran, over that of one here
  const CaseWishes& wishes;   // a choice among meshes is all of them, however near
};

struct ReliefTerm {
  Traffic traffic = Traffic::kTensor;
  double ratio = 1.0;   // after over before
  double points = 0.0;  // of the told operators' time, freed
};

struct ScoreTerm {
  std::string what;
  double factor = 1.0;
};

struct MeshMove {
  CaseMesh mesh;
  std::string rule;  // of data/agents/mesh.toml
  double relief = 0.0;
  std::vector<ReliefTerm> reliefs;
  double tokens = 1.0;  // a chip, after over before
  bool whole_sides = false;
  std::vector<ScoreTerm> terms;
  double score = 0.0;
  std::string unknown = {};  // a fact without which it is only a possibility; "": none

  // Chips of a group that exchanges something in every layer.
  [[nodiscard]] std::int64_t busy_chips() const {
    return saturating_product({mesh[CaseAxis::kSeq], mesh[CaseAxis::kModel]});
  }
};

// A mesh that would relieve the run and was not proposed.
struct RefusedMove {
  CaseMesh mesh;
  std::string rule;  // that refuses it
  std::string why;
  std::string unknown = {};  // a fact that would allow it, were it known; "": none would
  double relief = 0.0;
};

struct Moves {
  std::vector<MeshMove> ranked;      // worth a try, the best first
  std::vector<MeshMove> unknown;     // possible ones: a fact that bounds an axis is not known
  std::vector<RefusedMove> refused;  // by relief; the unknown ones too
  // The same chips as it ran on: then keeping the mesh is an answer.
  bool is_same_size = true;
};
Moves moves_of(const MoveFacts& facts);

// One mesh as moves_of would have it, whether it relieves anything or not.
struct AssessedMesh {
  MeshMove move;
  std::optional<RefusedMove> refused;
};
// REQUIRES: as many chips as the slice.
AssessedMesh assessed(const MoveFacts& facts, const CaseMesh& mesh);

// What a chip holds on `mesh` over what it holds on `from`, in parts of its memory: of everything
// that may fill it, whether the data axis shards weights or copies them.
std::vector<verify::Load> mesh_loads(const CaseMesh& from, const CaseMesh& mesh,
                                     double memory_scale);

// Where no mesh is known to run: the batch over as many chips as it has sequences, what is left to
// the model axis up to what its links allow, then to the seq axis.
Moves first_meshes(const Case& asked, const MeshSlice& slice, const CaseWishes& wishes);
// REQUIRES: as many chips as the slice.
AssessedMesh assessed_first(const Case& asked, const MeshSlice& slice, const CaseMesh& mesh);

// Why the mesh cannot run on that slice, whatever the model; nothing: it may.
std::optional<RefusedMove> illegal_mesh(const CaseMesh& mesh, const Case& asked);

}  // namespace sextant::agents
