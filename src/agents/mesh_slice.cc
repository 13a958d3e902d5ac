#include "agents/mesh_slice.h"

#include <algorithm>

#include <fmt/format.h>

#include "describe/cluster/load_cluster.h"
#include "describe/cluster/torus.h"

namespace sextant::agents {
namespace {

std::int64_t floor_power_of_two(double number) {
  std::int64_t power = 1;
  while (static_cast<double>(2 * power) <= number) {
    power *= 2;
  }
  return power;
}

// Sides of the largest slice, ascending.
Topology pod_sides(const describe::System& system) {
  Topology sides{1, 1, 1};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    if (const auto& side = system.torus[i]) {
      sides[i] = side->value;
    }
  }
  std::ranges::sort(sides);
  return sides;
}

Result<Topology> topology_of(const Case& asked, const describe::System& system) {
  const Topology pod = pod_sides(system);
  const std::string allowed = fmt::format("one slice of {}, at most {}", system.name, to_text(pod));
  if (!asked.topology) {
    const auto shape = describe::torus_shape(asked.chips, system);
    if (!shape) {
      return invalid(fmt::format("no slice has {} chips of {}", asked.chips, asked.device),
                     asked.where, allowed);
    }
    return *shape;
  }
  for (std::size_t i = 0; i < pod.size(); ++i) {
    if ((*asked.topology)[i] > pod[i]) {
      return invalid(fmt::format("{} is no slice of {}", to_text(*asked.topology), asked.device),
                     asked.where, allowed);
    }
  }
  return *asked.topology;
}

bool whole_sides_from(std::size_t axis, const CaseMesh& mesh, std::vector<std::int64_t> sides) {
  if (axis == mesh.sizes.size()) {
    return true;
  }
  const std::size_t subsets = std::size_t{1} << sides.size();
  for (std::size_t subset = 0; subset < subsets; ++subset) {
    std::int64_t product = 1;
    std::vector<std::int64_t> left;
    for (std::size_t i = 0; i < sides.size(); ++i) {
      if ((subset >> i & 1U) != 0) {
        product *= sides[i];
      } else {
        left.push_back(sides[i]);
      }
    }
    if (product == mesh.sizes[axis] && whole_sides_from(axis + 1, mesh, left)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool takes_whole_sides(const CaseMesh& mesh, const Topology& topology) {
  std::vector<std::int64_t> sides;
  std::ranges::copy_if(topology, std::back_inserter(sides),
                       [](std::int64_t side) { return side > 1; });
  return whole_sides_from(0, mesh, std::move(sides));
}

Result<Bytes> chip_memory(const std::string& device, const describe::DataStore& data) {
  SEXTANT_TRY(const describe::Device known, describe::load_device(device, data));
  return known.usable_memory();
}

Result<MeshSlice> mesh_slice(const Case& asked, std::int64_t wide_feed_forward,
                             const describe::DataStore& data) {
  SEXTANT_TRY(const describe::Device device, describe::load_device(asked.device, data));
  const auto& peak = device.peak(describe::DType::kBf16);
  if (!device.ici_link_bandwidth || !device.scale_up_bandwidth || !peak) {
    return invalid(fmt::format("{} is no TPU", device.id), asked.where,
                   "a device whose chips are joined in a torus: tpu-v4, tpu-v5e, tpu-v5p, tpu-v6e");
  }
  SEXTANT_TRY(describe::System system, describe::load_system(device.reference_system, data));
  SEXTANT_TRY(const Topology topology, topology_of(asked, system));
  MeshSlice slice{.device = device.id,
                  .chips = asked.chips,
                  .topology = topology,
                  .is_topology_told = asked.topology.has_value(),
                  .memory = asked.hbm_gib ? 1_GiB * *asked.hbm_gib : device.usable_memory(),
                  .cluster = {}};
  SEXTANT_TRY(slice.cluster, describe::reference_cluster(asked.chips, device, data));
  slice.cluster.torus = topology;
  if (asked.hbm_gib) {
    slice.cluster.device.memory_capacity.value = slice.memory;
    slice.cluster.device.memory_usable.reset();
  }
  const FlopsPerByte per_byte = peak->value / device.scale_up_bandwidth->value;
  slice.hidden_block = 2.0 * per_byte.base();
  // One ICI axis sends in both directions of its ring.
  const FlopsPerByte one_axis = peak->value / (2.0 * device.ici_link_bandwidth->value);
  slice.longest_model =
      floor_power_of_two(static_cast<double>(wide_feed_forward) / one_axis.base());
  return slice;
}

}  // namespace sextant::agents
