#include "app/recorded_devices.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "describe/cluster/load_cluster.h"
#include "measured/hardware.h"

namespace sextant::app {
namespace {

Result<std::optional<describe::Device>> named_device(const std::string& name,
                                                     measured::Hardware& hardware) {
  SEXTANT_TRY(const std::optional<std::string> id, hardware.device_in_text(name));
  if (!id) {
    return std::nullopt;
  }
  SEXTANT_TRY(const describe::Device* device, hardware.device(*id));
  return device == nullptr ? std::nullopt : std::optional(*device);
}

}  // namespace

Result<KnownDevices> known_devices(const std::vector<std::string>& names, const std::string& word,
                                   const Context& context) {
  KnownDevices known;
  if (!word.empty()) {
    SEXTANT_TRY(const describe::Device device, describe::load_device(word, context.data));
    known.of_rank.assign(names.size(), device);
    return known;
  }
  measured::Hardware hardware(context.data);
  std::map<std::string, std::optional<describe::Device>> seen;
  for (const std::string& name : names) {
    if (name.empty()) {
      known.of_rank.emplace_back();
      continue;
    }
    if (!seen.contains(name)) {
      SEXTANT_TRY(seen[name], named_device(name, hardware));
      if (const auto& device = seen[name]) {
        known.assumed.push_back(
            {"device", device->id, fmt::format("the profile names \"{}\"", printable(name)), {}});
      }
    }
    known.of_rank.push_back(seen[name]);
  }
  return known;
}

}  // namespace sextant::app
