// cluster.toml: the user's own machine, as far as it departs from a reference system.
#include <array>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "describe/cluster/device_file.h"
#include "describe/cluster/load_cluster.h"
#include "describe/cluster/torus.h"
#include "describe/toml_table.h"

namespace sextant::describe {
namespace {

constexpr std::array<std::string_view, 12> kClusterKeys{
    "name",   "devices",          "device",      "system",        "fabric",   "torus",
    "slices", "devices_per_node", "domain_size", "nics_per_node", "nic_rate", "price"};

// device = "h100-sxm", or a [device] table written like a file of data/devices.
Result<Device> the_device(const TomlTable& table, const DataStore& data) {
  if (auto inside = table.table("device")) {
    return read_device(*inside, "custom");
  }
  SEXTANT_TRY(const std::string word, table.text("device"));
  auto device = load_device(word, data);
  if (!device) {
    device.error().where = table.where("device");
  }
  return device;
}

Result<void> override_counts(const TomlTable& table, System& system) {
  for (const auto& [key, target] : {std::pair{"devices_per_node", &system.devices_per_node},
                                    std::pair{"domain_size", &system.domain_size}}) {
    if (table.has(key)) {
      SEXTANT_TRY(*target, table.sourced(key, parse_count));
      if (target->value < 1) {
        return invalid(fmt::format("{} is {}", key, target->value), table.where(key), "at least 1");
      }
    }
  }
  if (table.has("nics_per_node")) {
    SEXTANT_TRY(system.nics_per_node, table.optional_sourced("nics_per_node", parse_count));
  }
  if (table.has("nic_rate")) {
    SEXTANT_TRY(const Sourced<BytesPerSecond> rate,
                table.sourced("nic_rate", parse_bytes_per_second));
    if (!(rate.value > BytesPerSecond())) {
      return invalid("nic_rate is 0", table.where("nic_rate"), "more than 0");
    }
    system.nic_rate = rate;
  }
  return {};
}

Result<void> override_network(const TomlTable& table, Cluster& cluster, const DataStore& data) {
  if (table.has("fabric")) {
    SEXTANT_TRY(const std::string word, table.text("fabric"));
    auto fabric = load_fabric(word, data);
    if (!fabric) {
      fabric.error().where = table.where("fabric");
      return tl::unexpected(fabric.error());
    }
    use_fabric(cluster, *fabric);
  }
  return override_counts(table, cluster.system);
}

Result<void> override_torus(const TomlTable& table, Cluster& cluster) {
  if (table.has("slices")) {
    SEXTANT_TRY(cluster.slices, table.integer("slices", 1, cluster.devices));
  }
  if (!table.has("torus")) {
    return {};
  }
  SEXTANT_TRY(const std::string text, table.text("torus"));
  SEXTANT_TRY(cluster.torus, parse_torus(text, table.where("torus")));
  const std::int64_t chips = cluster.torus[0] * cluster.torus[1] * cluster.torus[2];
  if (chips * cluster.slices != cluster.devices) {
    return invalid(fmt::format("torus {} with {} slices holds {} chips, devices is {}", text,
                               cluster.slices, chips * cluster.slices, cluster.devices),
                   table.where("torus"));
  }
  return {};
}

}  // namespace

Result<Cluster> parse_cluster_toml(std::string_view text, std::string_view where,
                                   const DataStore& data) {
  SEXTANT_TRY(const TomlTable table, TomlTable::parse(text, where));
  SEXTANT_CHECK_OK(table.only(kClusterKeys));
  SEXTANT_TRY(const std::int64_t devices, table.integer("devices", 1, kMostDevices));
  SEXTANT_TRY(Device device, the_device(table, data));
  const bool system_named = table.has("system");
  if (system_named) {
    SEXTANT_TRY(device.reference_system, table.text("system"));
  }
  auto cluster = reference_cluster(devices, device, data);
  if (!cluster) {
    cluster.error().where = table.where(system_named ? "system" : "device");
    return cluster;
  }
  if (system_named) {
    cluster->assumed.clear();
  }
  SEXTANT_CHECK_OK(override_network(table, *cluster, data));
  SEXTANT_CHECK_OK(override_torus(table, *cluster));
  SEXTANT_TRY(cluster->price, table.optional_sourced("price", parse_dollars_per_second));
  cluster->name = std::string(where);
  if (table.has("name")) {
    SEXTANT_TRY(cluster->name, table.text("name"));
  }
  return cluster;
}

}  // namespace sextant::describe
