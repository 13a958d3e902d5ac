#include "app/job_devices.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "describe/cluster/load_cluster.h"
#include "describe/layout/job_defaults.h"
#include "emit/launched_devices.h"
#include "measured/hardware.h"

namespace sextant::app {
namespace {

// A file is none: no table of devices needs to be read to know that.
bool is_device(const std::string& word, const Context& context) {
  return word.find('/') == std::string::npos && !word.ends_with(".toml") &&
         describe::load_device(word, context.data).has_value();
}

// "64xh100-sxm", or a device alone for as many as the files say.
Result<describe::Cluster> cluster_of(const std::string& word, std::int64_t devices,
                                     const Context& context) {
  return describe::load_cluster(
      is_device(word, context) ? fmt::format("{}x{}", devices, word) : word, context.data);
}

std::string launched_with(const emit::Settings& settings, std::string_view key) {
  const emit::Setting* said = emit::find(settings.launch, key);
  return said == nullptr || said->values.empty() ? std::string() : said->values.front();
}

// The device that the files name; nothing where none is named that is known.
Result<std::optional<std::string>> device_of_files(const FileJob& out, const Context& context,
                                                   describe::Job& job) {
  if (const std::string cluster = launched_with(out.settings, "cluster"); !cluster.empty()) {
    SEXTANT_TRY(const describe::Cluster known, describe::load_cluster(cluster, context.data));
    return std::optional(known.device.id);
  }
  const std::string name = launched_with(out.settings, "device");
  if (name.empty()) {
    return std::optional<std::string>();
  }
  measured::Hardware hardware(context.data);
  SEXTANT_TRY(auto known, hardware.device_in_text(name));
  if (known && *known != name) {
    job.assumed.push_back({"device", *known, fmt::format("the files say {} only", name), {}});
  }
  return known;
}

}  // namespace

Result<void> start_where_said(const std::string& cluster, const Context& context,
                              emit::Settings& settings) {
  const bool counted = emit::find(settings.launch, "devices") != nullptr;
  const std::string captured = launched_with(settings, "cluster");
  const std::string& word = cluster.empty() && !counted ? captured : cluster;
  if (word.empty() || is_device(word, context)) {
    return {};
  }
  SEXTANT_TRY(const describe::Cluster known, describe::load_cluster(word, context.data));
  emit::start_on(known, settings);
  return {};
}

Result<void> read_cluster(const std::string& cluster, const Context& context, FileJob& out,
                          describe::Job& job) {
  const bool counted = out.reading.devices || job.layout.dp > 0;
  if (!counted && (cluster.empty() || is_device(cluster, context))) {
    out.open.emplace_back("devices are not stated: ‹on› CLUSTER");
  }
  const std::int64_t devices = out.reading.devices.value_or(
      std::max(describe::least_devices(job.layout), out.reading.least_devices));
  if (!cluster.empty()) {
    SEXTANT_TRY(job.cluster, cluster_of(cluster, devices, context));
    out.device_stated = true;
    return {};
  }
  SEXTANT_TRY(const std::optional<std::string> named, device_of_files(out, context, job));
  out.device_stated = named.has_value();
  const std::string device = named.value_or(std::string(describe::kStandInDevice));
  if (!out.device_stated) {
    job.assumed.push_back({"device", device, "not stated: ‹on› CLUSTER; no time is predicted", {}});
  }
  SEXTANT_TRY(job.cluster,
              describe::load_cluster(fmt::format("{}x{}", devices, device), context.data));
  return {};
}

}  // namespace sextant::app
