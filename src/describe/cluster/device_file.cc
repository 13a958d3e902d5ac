#include "describe/cluster/device_file.h"

#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"

namespace sextant::describe {
namespace {

// Reads text `key` as a word of a closed set.
template <typename E, std::size_t N>
Result<E> word(const TomlTable& table, std::string_view key, const std::array<Word<E>, N>& words) {
  SEXTANT_TRY(const std::string text, table.text(key));
  return parse_word<E>(words, text, key, table.where(key));
}

Result<Sourced<std::int64_t>> positive_count(const TomlTable& table, std::string_view key) {
  SEXTANT_TRY(Sourced<std::int64_t> count, table.sourced(key, parse_count));
  if (count.value < 1) {
    return invalid(fmt::format("{} is {}", key, count.value), table.where(key), "at least 1");
  }
  return count;
}

// A rate or size of zero would make times infinite downstream.
template <typename Q>
Result<void> check_positive(const std::optional<Sourced<Q>>& value, std::string_view key,
                            const TomlTable& table) {
  if (value && !(value->value > Q())) {
    return invalid(fmt::format("{} is 0", key), table.where(key), "more than 0");
  }
  return {};
}

template <typename Q>
Result<Sourced<Q>> positive(const TomlTable& table, std::string_view key,
                            Result<Q> (*parse)(std::string_view, std::string_view)) {
  SEXTANT_TRY(Sourced<Q> value, table.sourced(key, parse));
  SEXTANT_CHECK_OK(check_positive<Q>(value, key, table));
  return value;
}

template <typename Q>
Result<std::optional<Sourced<Q>>> optional_positive(const TomlTable& table, std::string_view key,
                                                    Result<Q> (*parse)(std::string_view,
                                                                       std::string_view)) {
  SEXTANT_TRY(std::optional<Sourced<Q>> value, table.optional_sourced(key, parse));
  SEXTANT_CHECK_OK(check_positive<Q>(value, key, table));
  return value;
}

Result<void> read_peaks(const TomlTable& table, Device& device) {
  SEXTANT_TRY(const TomlTable peaks, table.table("peak"));
  if (peaks.keys().empty()) {
    return invalid("no peak rate is given", table.where("peak"), "at least one [peak.DTYPE]");
  }
  for (const std::string& key : peaks.keys()) {
    SEXTANT_TRY(const DType dtype,
                parse_word<DType>(kDTypeWords, key, "number format", peaks.where(key)));
    SEXTANT_TRY(device.peaks[static_cast<std::size_t>(dtype)],
                positive(peaks, key, parse_flops_per_second));
  }
  return {};
}

constexpr std::array<std::string_view, 17> kDeviceKeys{"name",
                                                       "vendor",
                                                       "generation",
                                                       "aliases",
                                                       "reference_system",
                                                       "peak",
                                                       "memory_capacity",
                                                       "memory_usable",
                                                       "memory_bandwidth",
                                                       "compute_units",
                                                       "boost_clock",
                                                       "l2_cache",
                                                       "power_limit",
                                                       "scale_up_bandwidth",
                                                       "host_bandwidth",
                                                       "ici_links",
                                                       "ici_link_bandwidth"};
constexpr std::array<std::string_view, 12> kSystemKeys{
    "name",        "device",        "scale_up", "fabric",  "aliases", "devices_per_node",
    "domain_size", "nics_per_node", "nic_rate", "torus_x", "torus_y", "torus_z"};
constexpr std::array<std::string_view, 6> kFabricKeys{"name",    "family",   "transport",
                                                      "aliases", "nic_rate", "latency"};

}  // namespace

Result<Device> read_device(const TomlTable& table, std::string_view id) {
  SEXTANT_CHECK_OK(table.only(kDeviceKeys));
  Device device;
  device.id = std::string(id);
  SEXTANT_TRY(device.name, table.text("name"));
  SEXTANT_TRY(device.vendor, word(table, "vendor", kVendorWords));
  SEXTANT_TRY(device.generation, table.text("generation"));
  SEXTANT_TRY(device.reference_system, table.text("reference_system"));
  SEXTANT_TRY(device.aliases, table.texts("aliases"));
  SEXTANT_CHECK_OK(read_peaks(table, device));
  SEXTANT_TRY(device.memory_capacity, positive(table, "memory_capacity", parse_bytes));
  SEXTANT_TRY(device.memory_usable, optional_positive(table, "memory_usable", parse_bytes));
  SEXTANT_TRY(device.memory_bandwidth, positive(table, "memory_bandwidth", parse_bytes_per_second));
  SEXTANT_TRY(device.power_limit, positive(table, "power_limit", parse_watts));
  SEXTANT_TRY(device.compute_units, table.optional_sourced("compute_units", parse_count));
  SEXTANT_TRY(device.boost_clock, optional_positive(table, "boost_clock", parse_hertz));
  SEXTANT_TRY(device.l2_cache, optional_positive(table, "l2_cache", parse_bytes));
  SEXTANT_TRY(device.scale_up_bandwidth,
              optional_positive(table, "scale_up_bandwidth", parse_bytes_per_second));
  SEXTANT_TRY(device.host_bandwidth,
              optional_positive(table, "host_bandwidth", parse_bytes_per_second));
  SEXTANT_TRY(device.ici_links, table.optional_sourced("ici_links", parse_count));
  SEXTANT_TRY(device.ici_link_bandwidth,
              optional_positive(table, "ici_link_bandwidth", parse_bytes_per_second));
  return device;
}

Result<System> read_system(const TomlTable& table, std::string_view id) {
  SEXTANT_CHECK_OK(table.only(kSystemKeys));
  System system;
  system.id = std::string(id);
  SEXTANT_TRY(system.name, table.text("name"));
  SEXTANT_TRY(system.device, table.text("device"));
  SEXTANT_TRY(system.fabric, table.text("fabric"));
  SEXTANT_TRY(system.aliases, table.texts("aliases"));
  SEXTANT_TRY(system.scale_up, word(table, "scale_up", kScaleUpWords));
  SEXTANT_TRY(system.devices_per_node, positive_count(table, "devices_per_node"));
  SEXTANT_TRY(system.domain_size, positive_count(table, "domain_size"));
  SEXTANT_TRY(system.nics_per_node, table.optional_sourced("nics_per_node", parse_count));
  SEXTANT_TRY(system.nic_rate, optional_positive(table, "nic_rate", parse_bytes_per_second));
  constexpr std::array<std::string_view, 3> kTorusKeys{"torus_x", "torus_y", "torus_z"};
  for (std::size_t i = 0; i < kTorusKeys.size(); ++i) {
    if (table.has(kTorusKeys[i])) {
      SEXTANT_TRY(system.torus[i], positive_count(table, kTorusKeys[i]));
    }
  }
  return system;
}

Result<Fabric> read_fabric(const TomlTable& table, std::string_view id) {
  SEXTANT_CHECK_OK(table.only(kFabricKeys));
  Fabric fabric;
  fabric.id = std::string(id);
  SEXTANT_TRY(fabric.name, table.text("name"));
  SEXTANT_TRY(fabric.family, word(table, "family", kFabricFamilyWords));
  SEXTANT_TRY(fabric.transport, word(table, "transport", kTransportWords));
  SEXTANT_TRY(fabric.aliases, table.texts("aliases"));
  SEXTANT_TRY(fabric.nic_rate, optional_positive(table, "nic_rate", parse_bytes_per_second));
  SEXTANT_TRY(fabric.latency, table.optional_sourced("latency", parse_seconds));
  return fabric;
}

}  // namespace sextant::describe
