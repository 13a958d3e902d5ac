// JAX mesh form of a layout: sizes of named axes inside a slice (ICI) and between slices (DCN).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/integers.h"
#include "base/result.h"
#include "describe/cluster/cluster.h"
#include "describe/layout/job.h"
#include "describe/layout/layout.h"

namespace sextant::describe {

struct MeshAxes {
  std::int64_t data = 1;
  std::int64_t fsdp = 1;
  std::int64_t tensor = 1;
  std::int64_t sequence = 1;  // tensor-sequence: the context is split
  std::int64_t expert = 1;
  std::int64_t pipeline = 1;
  std::int64_t replica = 1;  // whole copies (HSDP's outer axis)
  bool operator==(const MeshAxes&) const = default;
  [[nodiscard]] std::int64_t devices() const {
    return saturating_product({data, fsdp, tensor, sequence, expert, pipeline, replica});
  }
};

struct Mesh {
  MeshAxes ici;
  MeshAxes dcn;
  bool operator==(const Mesh&) const = default;
};

// "fsdp=64,tensor=4" or "ici:fsdp=64,tensor=4;dcn:data=2".
Result<Mesh> parse_mesh(std::string_view text);
std::string to_text(const Mesh& mesh);

// The axes of a Layout: tensor → tp, sequence → cp, expert → ep, pipeline → pp; data, fsdp and
// replica (and expert, which is carved out of data parallelism) → dp. Weights are sharded (ZeRO-3)
// over fsdp, sequence and expert together, as MaxText does; copies of them are data and replica.
// Where axes cross slices, the order of ranks is order_of()'s.
Layout with_mesh(Layout layout, const Mesh& mesh);

// The other way round. Slices are crossed as crossing() says.
Mesh mesh_of(const Job& job);

// Slices of TPUs; of GPUs, what no network is needed inside. 1 where they are not equally full.
std::int64_t slices_of(const Cluster& cluster);

// Which part of each axis crosses slices. The outermost axes of the order take them first: pp is
// `pipeline`, dp is `replica`, then `data`, then `fsdp`.
struct Crossing {
  MeshAxes dcn;
  // Ranks that are counted in this order fill the slices just so: an axis is either outside a slice
  // as a whole, or the only one that is cut.
  bool fills = true;
};
// REQUIRES: sizes and slices are at least 1. `whole`: sizes over the whole job.
Crossing crossing(const MeshAxes& whole, const std::array<Axis, 5>& order, std::int64_t slices);

// The order of ranks that lets the mesh's dcn axes cross slices: the usual one where it does, else
// one that has them outermost (of several pipeline, then dp, expert, sequence, tensor, from the
// outside in, as far as sizes allow) and then dp, pp, ep, cp, tp.
struct MeshOrder {
  std::array<Axis, 5> order{};
  // No order says exactly this: an axis may be cut only where all outside it are outside slices as
  // a whole, and copies (data) cross before shards (fsdp).
  bool exact = true;
};
MeshOrder order_of(const Mesh& mesh);

}  // namespace sextant::describe
