// The slice that a mesh lies on: chips, sides of its torus, and the three numbers that bound its
// axes where nothing is known of the model.
#pragma once

#include <cstdint>
#include <string>

#include "agents/case_file.h"
#include "agents/mesh_axes.h"
#include "base/result.h"
#include "base/units.h"
#include "describe/cluster/cluster.h"
#include "describe/data_store.h"

namespace sextant::agents {

struct MeshSlice {
  std::string device;  // "tpu-v5p"
  std::int64_t chips = 0;
  Topology topology{1, 1, 1};
  bool is_topology_told = false;  // else the most cubic (or square) shape
  Bytes memory;                   // of a chip
  // Tokens of a sequence on a chip from which on attention on them outlasts passing their keys and
  // values on: peak FLOPs over the bandwidth of all its links, twice that under a causal mask.
  // Source: Ring Attention (arXiv:2310.01889), c ≥ F/B; half the pairs of tokens are masked. It
  // takes every head to have keys of its own: shared ones need fewer tokens.
  double hidden_block = 0.0;
  // A model axis this long still computes as long as it transfers, on a wide model: d_ff over the
  // FLOPs that a chip makes for a byte of one ICI axis, down to a power of two.
  std::int64_t longest_model = 1;
  describe::Cluster cluster;
};

// An Error where the device is no TPU, or no one slice of its pods has that shape.
Result<MeshSlice> mesh_slice(const Case& asked, std::int64_t wide_feed_forward,
                             const describe::DataStore& data);
// Usable memory of a chip of that device.
Result<Bytes> chip_memory(const std::string& device, const describe::DataStore& data);

// Can every axis be made of whole sides of the torus? JAX's create_device_mesh refuses others
// unless it is told to split sides.
bool takes_whole_sides(const CaseMesh& mesh, const Topology& topology);

}  // namespace sextant::agents
