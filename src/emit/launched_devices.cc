#include "emit/launched_devices.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace sextant::emit {
namespace {

// What the options that launchers count by are listed as where their value is not known.
constexpr std::array<std::string_view, 16> kCounts{"--nnodes",         "--num_machines",
                                                   "--num_nodes",      "--nodes",
                                                   "--nproc_per_node", "--num_gpus",
                                                   "-npernode",        "--gpus-per-node",
                                                   "--gres",           "--ntasks-per-node",
                                                   "--num_processes",  "-np",
                                                   "--ntasks",         "--gpus",
                                                   "WORLD_SIZE",       "NGPU"};

bool is_count(const Unresolved& one) {
  const std::string_view name = std::string_view(one.what).substr(0, one.what.find(' '));
  return one.key.empty() && std::ranges::find(kCounts, name) != kCounts.end();
}

bool is_count_key(const Setting& one) {
  return is_one_of(one.key, {"nodes", "devices_per_node", "devices"});
}

bool is_name(std::string_view text) {
  return !text.empty() && !to_integer(text) && text.find('$') == std::string_view::npos;
}

// "gpu:h100:8(S:0-1)" and "h100:8" → "h100"; "gpu:8", "8" → nothing.
std::string_view counted_name(std::string_view text) {
  text = text.substr(0, text.find('('));
  const std::vector<std::string_view> parts = split(text, ':');
  const std::size_t at = parts[0] == "gpu" ? 1 : 0;
  return parts.size() > at && is_name(parts[at]) && (at == 1 || parts.size() > 1)
             ? parts[at]
             : std::string_view();
}

}  // namespace

void start_on(const describe::Cluster& cluster, Settings& settings) {
  if (!settings.printed.empty()) {
    return;
  }
  std::erase_if(settings.launch, is_count_key);
  std::erase_if(settings.unresolved, is_count);
  const auto add = [&](std::string_view key, std::int64_t value) {
    settings.launch.push_back({std::string(key), {std::to_string(value)}, {}});
  };
  const std::int64_t per_node = std::min(cluster.devices, cluster.devices_per_node());
  add("devices", cluster.devices);
  if (per_node > 0 && cluster.devices % per_node == 0) {
    add("nodes", cluster.devices / per_node);
    add("devices_per_node", per_node);
  }
  // Accelerate counts in its own file.
  for (const std::string_view key : {"num_processes", "num_machines"}) {
    if (settings.dialect == Dialect::kAccelerate && find(settings.given, key) != nullptr) {
      const std::int64_t value = key == "num_processes" ? cluster.devices : cluster.nodes();
      settings.given.push_back({std::string(key), {std::to_string(value)}, {}});
    }
  }
}

const ScriptWord* device_asked_for(std::span<const ScriptWord> words, std::string_view& name) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view text = words[i].at.text;
    const std::size_t equals = text.find('=');
    const std::string_view option = text.substr(0, equals);
    const bool joined = equals != std::string_view::npos;
    const ScriptWord* value = joined ? &words[i] : i + 1 < words.size() ? &words[i + 1] : nullptr;
    if (value == nullptr || !value->why.empty()) {
      continue;
    }
    const std::string_view said = joined ? text.substr(equals + 1) : value->at.text;
    if (is_one_of(option, {"--gres", "--gpus-per-node", "--gpus", "-G"})) {
      name = counted_name(said);
    } else if (is_one_of(option, {"--constraint", "-C"})) {
      name = is_name(said) ? said : std::string_view();
    }
    if (!name.empty()) {
      return value;
    }
  }
  return nullptr;
}

}  // namespace sextant::emit
