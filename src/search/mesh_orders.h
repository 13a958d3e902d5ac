// Orders of ranks of a JAX mesh: each lets other axes cross slices.
//
// On several slices an order says who crosses them (describe::crossing), and nothing else that has
// a price: groups inside a slice lie where XLA puts them. So two orders that let the same axes
// cross are one mesh, and the first stands for both.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "describe/layout/mesh.h"
#include "search/choices.h"

namespace sextant::search {

// Slices that the problem's devices fill; 1 where they are not equally full.
std::int64_t slices_of(const Problem& problem);

// Those of Choices::orders that are meshes of their own with the layout's tp, cp, ep and pp. Where
// no order fills the slices, the first.
// REQUIRES: the devices divide so.
std::vector<std::array<describe::Axis, 5>> mesh_orders(const Problem& problem,
                                                       const Choices& choices,
                                                       const describe::Layout& layout);

// Ranks of a slice that share a part of the model, so that weights sharded over them are copied
// between slices; 0 where no mesh says so: weights are sharded over contexts and experts too, so
// these must not cross. REQUIRES: as above.
std::int64_t group_inside_slice(const Problem& problem, const describe::Layout& layout);

}  // namespace sextant::search
