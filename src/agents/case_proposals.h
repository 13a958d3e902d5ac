// A move between meshes as a proposal: its words, claims and citations, and what the judge says of
// it without a model.
#pragma once

#include <span>

#include "agents/case_file.h"
#include "agents/mesh_moves.h"
#include "agents/mesh_rules.h"
#include "agents/report.h"
#include "kb/entry.h"

namespace sextant::agents {

struct ProposalFacts {
  const Case& asked;
  const MeshSlice& slice;
  const MeshRuleBook& rules;
  std::optional<CaseMesh> from = {};  // known to run
  bool is_same_size = true;           // on as many chips
  double memory_scale = 1.0;          // as MoveFacts
  diagnose::Bottleneck bottleneck = diagnose::Bottleneck::kCompute;
  std::span<const kb::Entry> entries = {};  // what may be cited
};

// What the judge knows of the slice.
verify::MeshFacts judged_facts(const ProposalFacts& facts);

Judged judged_move(const MeshMove& move, const ProposalFacts& facts);
// A mesh that cannot even be compared: of another number of chips.
Judged judged_mesh(const CaseMesh& mesh, const ProposalFacts& facts);
// Of a proposal that is there, words and all. `mesh` is its change's.
verify::Verdict mesh_verdict(const verify::Proposal& proposal, const CaseMesh& mesh,
                             const ProposalFacts& facts);
// With why it was turned down.
Judged judged_refusal(const RefusedMove& refused, const ProposalFacts& facts);

}  // namespace sextant::agents
