// The reasoner on a case file: an analysis of what the profiler reported, and at most three meshes
// to try, each judged. Deterministic; believes no profile more than arithmetic allows.
//
// Where no model is known, three published shapes are assumed in its place (mesh_shapes.h), named,
// and shown; none of them decides whether a mesh fits.
#pragma once

#include <span>

#include "agents/case_file.h"
#include "agents/case_wishes.h"
#include "agents/report.h"
#include "agents/tools.h"
#include "describe/data_store.h"
#include "kb/entry.h"

namespace sextant::agents {

struct CaseTools {
  const describe::DataStore& data;          // devices, and shapes that are assumed
  std::span<const kb::Entry> entries = {};  // what may be cited; empty: no knowledge base
  const Tools* tools = nullptr;             // `search` and `note` alone are asked; null: neither
  bool with_model = true;                   // price meshes with the shapes that are assumed
  CaseWishes wishes = {};
};

// An Error where the device is no TPU of data/devices, or no slice of it has those chips.
Result<Report> tune_case(const Case& profiled, const CaseTools& tools);

// What the judge says of a proposal for the case, whoever makes it: tune_case shows nothing that
// was judged otherwise. Its change names a mesh ("ici:data=16,tensor=8,sequence=4").
Result<verify::Verdict> judge_case(const Case& profiled, const CaseTools& tools,
                                   const verify::Proposal& proposal);

}  // namespace sextant::agents
