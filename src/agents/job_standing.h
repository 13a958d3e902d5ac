// Where a job stands before anything is changed: the layout that others are held to, and what the
// model says of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "describe/layout/job.h"
#include "describe/layout/rules.h"
#include "search/task.h"
#include "step/step_answer.h"

namespace sextant::agents {

struct Standing {
  const search::Task* task = nullptr;  // null: no model is known, nor anything below
  describe::Job job = {};              // with the layout that others are held to
  bool is_users = false;               // it is the user's own; else the planner's first, or none
  std::vector<describe::Violation> broken = {};  // rules that stop it
  std::optional<step::Estimate> estimate = {};   // nothing where it is not legal
  bool fits = true;                              // within the planner's headroom, or it was run
  [[nodiscard]] bool runs() const { return estimate.has_value() && fits && broken.empty(); }
};

// "tp=8,pp=4,dp=2", axes of one left out; of a JAX framework its mesh.
std::string mesh_words(const describe::Job& job);

// Do they split the model alike? Of meshes that differ in cp alone, those whose micro-batch makes
// up for it: what cp takes of a sequence and mbs gives back is one and the same.
bool is_like_mesh(const describe::Layout& one, const describe::Layout& other);

// Keys of the layout in which `after` differs, as a change of a proposal: "tp=4,mbs=2". dp is what
// they leave, and stays away unless it is pinned. "": nothing differs.
std::string changed_words(const describe::Job& before, const describe::Layout& after);

}  // namespace sextant::agents
