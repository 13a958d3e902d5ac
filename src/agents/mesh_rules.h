// The words of the reasoner's rules on meshes, the practices they rest on, and its numbers from
// outside: data/agents/mesh.toml. When a rule fires is code (mesh_moves.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "describe/sourced.h"

namespace sextant::agents {

struct MeshRule {
  std::string id;                      // "sequence-to-data"
  std::string title;                   // what to do
  std::string why;                     // the mechanism
  std::vector<std::string> practices;  // ids, of data/practices; at least one
};

struct MeshRuleBook {
  std::vector<MeshRule> rules;  // by id
  // A wide feed-forward of published dense models: what a model axis is bounded by where the
  // model's own is not known.
  describe::Sourced<std::int64_t> wide_feed_forward;
  std::vector<std::string> ladder;  // models that may be assumed, by size

  // REQUIRES: there is one (a test holds every rule of the code to the book).
  [[nodiscard]] const MeshRule& rule(std::string_view id) const;
};

// An Error names file, line and key.
Result<MeshRuleBook> load_mesh_rules(const describe::DataStore& data);

}  // namespace sextant::agents
