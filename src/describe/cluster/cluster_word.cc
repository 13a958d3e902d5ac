// Clusters from a word: COUNTxDEVICE[@FABRIC], COUNTxSYSTEM[@FABRIC], TPU slices (v5p-512).
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"
#include "base/quantity_text.h"
#include "base/text.h"
#include "describe/cluster/load_cluster.h"
#include "describe/cluster/torus.h"

namespace sextant::describe {
namespace {

constexpr Bytes kMostClusterFile = 1_MiB;

// Cloud TPU names a slice by generation and size; v3, v4, v5p and 7x count TensorCores, two a chip.
// Source: Google Cloud TPU documentation, "TPU versions", read 2026-11.
struct SliceWord {
  std::string_view prefix;
  std::string_view device;
  std::int64_t cores_per_chip;
};
constexpr std::array kSliceWords{
    SliceWord{"v3", "tpu-v3", 2},   SliceWord{"v4", "tpu-v4", 2},
    SliceWord{"v5p", "tpu-v5p", 2}, SliceWord{"v5litepod", "tpu-v5e", 1},
    SliceWord{"v5e", "tpu-v5e", 1}, SliceWord{"v6e", "tpu-v6e", 1},
    SliceWord{"tpu7x", "tpu-7x", 2}};

struct Slice {
  std::string_view device;
  std::int64_t chips;
};

Result<std::optional<Slice>> parse_slice(std::string_view word) {
  const std::size_t dash = word.rfind('-');
  if (dash == std::string_view::npos) {
    return std::optional<Slice>();
  }
  for (const SliceWord& known : kSliceWords) {
    if (word.substr(0, dash) != known.prefix) {
      continue;
    }
    const auto size = to_integer(word.substr(dash + 1));
    if (!size || *size < known.cores_per_chip || *size % known.cores_per_chip != 0 ||
        *size > kMostDevices) {
      return invalid(fmt::format("'{}' is not the size of a {} slice",
                                 printable(word.substr(dash + 1)), known.prefix),
                     {}, fmt::format("a multiple of {}", known.cores_per_chip));
    }
    return std::optional<Slice>(Slice{known.device, *size / known.cores_per_chip});
  }
  return std::optional<Slice>();
}

Result<Cluster> slice_cluster(const Slice& slice, std::int64_t slices, const DataStore& data) {
  SEXTANT_TRY(const Device device, load_device(slice.device, data));
  SEXTANT_TRY(Cluster cluster, reference_cluster(slice.chips, device, data));
  cluster.slices = slices;
  cluster.devices = slice.chips * slices;
  return cluster;
}

struct ClusterWord {
  std::int64_t count = 1;
  std::string_view thing;
  std::string_view fabric;
};

// COUNTxTHING[@FABRIC]; a word without a count means one.
Result<ClusterWord> split_word(std::string_view word) {
  ClusterWord parts;
  const std::size_t at = word.find('@');
  parts.fabric = at == std::string_view::npos ? std::string_view() : word.substr(at + 1);
  parts.thing = word.substr(0, at);
  const std::size_t digits = parts.thing.find_first_not_of("0123456789");
  if (digits != 0 && digits != std::string_view::npos && parts.thing[digits] == 'x') {
    const auto count = to_integer(parts.thing.substr(0, digits));
    if (!count || *count < 1 || *count > kMostDevices) {
      return invalid(fmt::format("the count in '{}' is out of range", printable(word)), {},
                     fmt::format("1 to {}", kMostDevices));
    }
    parts.count = *count;
    parts.thing = parts.thing.substr(digits + 1);
  }
  if (parts.thing.empty() || (at != std::string_view::npos && parts.fabric.empty())) {
    return invalid(fmt::format("'{}' is not a cluster", printable(word)), {},
                   "COUNTxDEVICE[@FABRIC] such as 64xh100-sxm or 2048xa100-sxm-80g@ib-200, "
                   "a TPU slice such as v5p-512, or a cluster.toml");
  }
  return parts;
}

Result<Cluster> cluster_of(const ClusterWord& parts, const DataStore& data) {
  SEXTANT_TRY(const std::optional<Slice> slice, parse_slice(parts.thing));
  if (slice) {
    return slice_cluster(*slice, parts.count, data);
  }
  const auto device = load_device(parts.thing, data);
  if (device) {
    return reference_cluster(parts.count, *device, data);
  }
  const auto system = load_system(parts.thing, data);
  if (!system) {
    return tl::unexpected(device.error());
  }
  const std::int64_t devices = parts.count * system->devices_per_node.value;
  if (devices > kMostDevices) {
    return invalid(fmt::format("{} nodes are too many", parts.count));
  }
  SEXTANT_TRY(Device inside, load_device(system->device, data));
  inside.reference_system = system->id;
  SEXTANT_TRY(Cluster cluster, reference_cluster(devices, inside, data));
  cluster.assumed.clear();  // the system was named, nothing was filled in
  return cluster;
}

}  // namespace

std::optional<BytesPerSecond> Cluster::network_per_device() const {
  if (!system.nics_per_node || !system.nic_rate) {
    return std::nullopt;
  }
  return system.nic_rate->value * (static_cast<double>(system.nics_per_node->value) /
                                   static_cast<double>(system.devices_per_node.value));
}

Result<Cluster> reference_cluster(std::int64_t devices, const Device& device,
                                  const DataStore& data) {
  Cluster cluster;
  cluster.devices = devices;
  cluster.device = device;
  SEXTANT_TRY(cluster.system, load_system(device.reference_system, data));
  SEXTANT_TRY(cluster.fabric, load_fabric(cluster.system.fabric, data));
  cluster.name = fmt::format("{}x{}", devices, device.id);
  cluster.assumed.push_back({"system", cluster.system.id,
                             fmt::format("node shape and network of {}", cluster.system.name),
                             fmt::format("systems/{}.toml", cluster.system.id)});
  if (const auto shape = torus_shape(devices, cluster.system)) {
    cluster.torus = *shape;
    cluster.assumed.push_back({"torus",
                               fmt::format("{}x{}x{}", (*shape)[0], (*shape)[1], (*shape)[2]),
                               "the most cubic of that many chips",
                               {}});
  }
  return cluster;
}

Result<Cluster> load_cluster(std::string_view word, const DataStore& data) {
  if (word.find('/') != std::string_view::npos || word.ends_with(".toml") || word == "-") {
    SEXTANT_TRY(const std::string text, read_text(word, kMostClusterFile));
    return parse_cluster_toml(text, word, data);
  }
  const std::string lower = to_lower(word);
  SEXTANT_TRY(const ClusterWord parts, split_word(lower));
  SEXTANT_TRY(Cluster cluster, cluster_of(parts, data));
  if (!parts.fabric.empty()) {
    SEXTANT_TRY(const Fabric fabric, load_fabric(parts.fabric, data));
    use_fabric(cluster, fabric);
  }
  cluster.name = std::string(word);
  return cluster;
}

void use_fabric(Cluster& cluster, const Fabric& fabric) {
  cluster.fabric = fabric;
  cluster.system.fabric = fabric.id;
  if (!fabric.nic_rate) {
    cluster.system.nic_rate.reset();
    cluster.system.nics_per_node.reset();
    return;
  }
  cluster.system.nic_rate = fabric.nic_rate;
  if (!cluster.system.nics_per_node) {
    cluster.system.nics_per_node = Sourced<std::int64_t>{cluster.system.devices_per_node.value,
                                                         SourceKind::kAssumed, "one NIC a device"};
  }
  cluster.assumed.push_back({"nics_per_node", std::to_string(cluster.system.nics_per_node->value),
                             fmt::format("of {} each", to_text(cluster.system.nic_rate->value)),
                             fmt::format("fabrics/{}.toml", fabric.id)});
}

}  // namespace sextant::describe
