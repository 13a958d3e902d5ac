#include "measured/run_cluster.h"

#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "measured/row_tools.h"

namespace sextant::measured {

namespace {

using describe::Cluster;
using describe::Sourced;
using describe::SourceKind;

constexpr std::string_view kPhrase = "between ";

template <typename T>
Sourced<T> published(T value, const RunCells& run) {
  return {value, SourceKind::kPaper, run.id};
}

// "ICI 3D torus 4x8x8" → 4, 8, 8; "… 16x16" → 16, 16, 1.
std::optional<std::array<std::int64_t, 3>> torus_in_text(std::string_view text) {
  for (const std::string_view word : split(text, ' ')) {
    const std::vector<std::string_view> parts = split(word, 'x');
    if (parts.size() != 2 && parts.size() != 3) {
      continue;
    }
    std::array<std::int64_t, 3> torus{1, 1, 1};
    bool numbers = true;
    for (std::size_t axis = 0; axis < parts.size(); ++axis) {
      const auto size = to_integer(parts[axis]);
      numbers = numbers && size && *size > 0;
      torus[axis] = size.value_or(1);
    }
    if (numbers) {
      return torus;
    }
  }
  return std::nullopt;
}

// "DCN between 4 slices" → 4.
std::int64_t slices_in_text(std::string_view text) {
  const std::size_t at = text.find(kPhrase);
  if (at == std::string_view::npos) {
    return 1;
  }
  const std::string_view rest = text.substr(at + kPhrase.size());
  const auto slices = to_integer(rest.substr(0, rest.find(' ')));
  return slices && *slices > 0 && contains(rest, "slices") ? *slices : 1;
}

// A TPU cluster is `slices` tori; the reference cluster is that of one slice.
Result<Cluster> pod_cluster(const RunCells& run, const describe::Device& device,
                            Hardware& hardware) {
  const std::int64_t devices = stated(run.devices);
  std::int64_t slices = slices_in_text(run.interconnect);
  if (devices % slices != 0) {
    slices = 1;
  }
  SEXTANT_TRY(Cluster cluster, hardware.cluster(devices / slices, device));
  cluster.devices = devices;
  cluster.slices = slices;
  const auto torus = torus_in_text(run.interconnect);
  if (torus && (*torus)[0] * (*torus)[1] * (*torus)[2] == devices / slices) {
    cluster.torus = *torus;
  }
  return cluster;
}

// Numbers of the row replace those of the reference system; what stays is listed.
void apply_row(const RunCells& run, Cluster& cluster) {
  if (run.devices_per_node) {
    cluster.system.devices_per_node = published(stated(run.devices_per_node), run);
  }
  if (run.domain_size) {
    cluster.system.domain_size = published(stated(run.domain_size), run);
  }
  if (run.nic_gbps_per_device && *run.nic_gbps_per_device > 0.0) {
    // The row says what a device gets; how many NICs carry it does not matter to that.
    cluster.system.nics_per_node = published(cluster.system.devices_per_node.value, run);
    cluster.system.nic_rate = published(*run.nic_gbps_per_device * 1_Gbitps, run);
    if (cluster.fabric.nic_rate) {
      cluster.fabric.nic_rate = cluster.system.nic_rate;
    }
  }
}

// "ib" with a rate of 100 a device is asked for as "ib-100"; a family's word alone otherwise.
Result<const describe::Fabric*> fabric_of(const RunCells& run, Hardware& hardware) {
  if (run.nic_gbps_per_device && *run.nic_gbps_per_device > 0.0) {
    const std::string word = fmt::format("{}-{:g}", run.fabric, *run.nic_gbps_per_device);
    if (auto fabric = hardware.fabric(word)) {
      return fabric;
    }
  }
  return hardware.fabric(run.fabric);
}

}  // namespace

Result<RunCluster> run_cluster(const RunCells& run, Hardware& hardware) {
  RunCluster out;
  if (run.device.empty() || !run.devices) {
    out.refusal = run.devices ? "device not stated" : "num_devices not stated";
    return out;
  }
  auto named = hardware.device(run.device);
  if (!named) {
    if (named.error().kind != ErrorKind::kNotFound) {
      return tl::unexpected(named.error());
    }
    out.refusal = fmt::format("device not known: {}", printable(run.device));
    return out;
  }
  const describe::Device* device = *named;
  if (run.memory_gb) {
    SEXTANT_TRY(device, hardware.variant(*device, *run.memory_gb * 1_GB));
  }
  if (device->id != run.device) {
    out.assumed.push_back(
        {"device", device->id, fmt::format("from \"{}\"", printable(run.device)), {}});
  }
  SEXTANT_TRY(Cluster cluster, device->vendor == describe::Vendor::kGoogle
                                   ? pod_cluster(run, *device, hardware)
                                   : hardware.cluster(stated(run.devices), *device));
  if (!run.fabric.empty()) {
    auto fabric = fabric_of(run, hardware);
    if (!fabric) {
      out.refusal = fmt::format("fabric not known: {}", printable(run.fabric));
      return out;
    }
    cluster.fabric = **fabric;
  }
  apply_row(run, cluster);
  cluster.name = fmt::format("{}x{}", stated(run.devices), device->id);
  if (run.devices_per_node && run.domain_size && run.nic_gbps_per_device && !run.fabric.empty()) {
    cluster.assumed.clear();  // the row states all that the reference system would have filled
  }
  out.assumed.insert(out.assumed.end(), cluster.assumed.begin(), cluster.assumed.end());
  out.cluster = std::move(cluster);
  return out;
}

}  // namespace sextant::measured
