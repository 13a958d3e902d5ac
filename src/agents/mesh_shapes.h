// Published models in the place of one that nobody may see: what the step model says of meshes if
// the job were one of them. Named as assumed wherever it is shown; it never says whether the real
// job fits.
//
// Which ones: of the ladder of data/agents/mesh.toml (dense models, by size) the three largest
// whose training states take at most half of the slice's memory, and that are legal and fit on the
// mesh that is known to run. The data axis is taken to shard weights (fsdp) unless the profile sums
// gradients whole, layers are recomputed whole, and a chip's share of the batch is one microbatch.
// Where the sequence length is not known, 4096 tokens a part of the seq axis; where the batch is
// not, as many sequences as chips.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/case_file.h"
#include "agents/mesh_axes.h"
#include "agents/mesh_rules.h"
#include "agents/mesh_slice.h"
#include "base/result.h"
#include "base/units.h"
#include "describe/data_store.h"
#include "search/task.h"

namespace sextant::agents {

struct AssumedShape {
  std::string model;  // of the catalogue
  search::Task task;  // on the mesh that runs
  bool data_shards = true;
};

struct AssumedShapes {
  std::vector<AssumedShape> shapes;  // the largest first; at most three
  std::vector<std::string> assumed;  // what else was, in words
  std::string why_fewer;             // "": there are three
};

struct ShapeFacts {
  const Case& asked;
  const MeshSlice& slice;  // where `runs` runs
  CaseMesh runs;
  bool data_shards = true;
};
// An Error where links of that device were never measured.
Result<AssumedShapes> assumed_shapes(const ShapeFacts& facts, const MeshRuleBook& rules,
                                     const describe::DataStore& data);

struct PricedMesh {
  CaseMesh mesh;
  bool legal = false;
  bool fits = false;
  Seconds step;  // of a legal one
};
PricedMesh priced_mesh(const AssumedShape& shape, const CaseMesh& mesh);
// Words of that mesh for the shape's job, its microbatch with them.
std::string shape_words(const AssumedShape& shape, const CaseMesh& mesh);
// The shape's job on another slice, on some mesh there.
Result<AssumedShape> shape_on_slice(AssumedShape shape, const MeshSlice& slice,
                                    const describe::DataStore& data);

std::vector<PricedMesh> priced_meshes(const AssumedShape& shape, std::span<const CaseMesh> meshes);

// Its place by step among priced ones that are legal and fit, from 1; nothing where it is not legal
// or does not fit.
std::optional<std::size_t> rank_by_model(const PricedMesh& mesh, std::span<const PricedMesh> among);

}  // namespace sextant::agents
