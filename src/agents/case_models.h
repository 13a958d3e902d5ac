// What models assumed in the place of a confidential one say of the meshes proposed: of claims, and
// the meshes' places among all that are powers of two. A move that none of them believes in is not
// rejected: they are not the job. A claim counts where it holds under two of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "agents/case_file.h"
#include "agents/mesh_shapes.h"
#include "agents/report.h"
#include "describe/data_store.h"
#include "describe/difference_spread.h"
#include "kb/entry.h"

namespace sextant::agents {

class CaseModels {
 public:
  // Of meshes on `slice`; the profile was recorded where `recorded` says. Where nothing can be
  // priced there are no shapes, and notes() say why.
  static CaseModels of(const ShapeFacts& recorded, const MeshSlice& slice,
                       const MeshRuleBook& rules, const describe::DataStore& data);

  // What is assumed, and what the shapes say of the mesh that runs.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  // "place 2 of 165 under llama-3.1-70b, …"; "" where nothing is priced.
  [[nodiscard]] std::string places(const CaseMesh& mesh) const;
  // Puts what they say of its claims and citations into the verdict; accepts what is sure to fit
  // and whose claims hold. REQUIRES: `mesh` is the judged one, on as many chips as ran.
  void judge(const CaseMesh& mesh, std::span<const kb::Entry> entries, Judged& judged) const;

 private:
  struct Shape {
    AssumedShape assumed;            // on the slice that is asked for
    std::vector<PricedMesh> priced;  // all meshes that are powers of two
  };
  std::vector<Shape> shapes_;
  std::vector<std::string> notes_;
  std::optional<describe::DifferenceSpreads> spreads_;
};

}  // namespace sextant::agents
